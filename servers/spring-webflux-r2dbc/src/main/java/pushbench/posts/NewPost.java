package pushbench.posts;

/** What a client posts. Fields beyond these are ignored. */
record NewPost(@Text(max = 200) String title, @Text(max = 10_000) String content) {}
