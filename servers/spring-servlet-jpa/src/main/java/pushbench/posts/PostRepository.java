package pushbench.posts;

import org.springframework.data.jpa.repository.JpaRepository;

/** Each method is a transaction. */
interface PostRepository extends JpaRepository<Post, Long> {}
