package pushbench.posts;

import jakarta.validation.Valid;
import java.net.URI;
import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

@RestController
class PostController {
  /** Covers everything that a request waits for in the database: its answer is due within 5 s. */
  private static final Duration DATABASE_TIMEOUT = Duration.ofSeconds(4);

  private final PostRepository posts;

  PostController(PostRepository posts) {
    this.posts = posts;
  }

  @PostMapping(path = "/post", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<Void>> create(@Valid @RequestBody Mono<NewPost> post) {
    return post.map(valid -> new Post(null, valid.title(), valid.content()))
        .flatMap(wanted -> posts.save(wanted).timeout(DATABASE_TIMEOUT))
        .map(saved -> ResponseEntity.created(URI.create("/post/" + saved.no())).build());
  }

  /** Limits a number to the digits that a {@code long} holds. */
  @GetMapping("/post/{no:[0-9]{1,18}}")
  Mono<Post> read(@PathVariable long no) {
    return posts
        .findById(no)
        .timeout(DATABASE_TIMEOUT)
        .switchIfEmpty(Mono.error(() -> new ResponseStatusException(HttpStatus.NOT_FOUND)));
  }
}
