package pushbench.posts;

import org.springframework.data.repository.reactive.ReactiveCrudRepository;

/** Each statement is a transaction of its own. */
interface PostRepository extends ReactiveCrudRepository<Post, Long> {}
