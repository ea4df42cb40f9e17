package pushbench.posts;

import org.springframework.data.jpa.repository.JpaRepository;

/** Each of its methods is a transaction. */
interface PostRepository extends JpaRepository<Post, Long> {}
