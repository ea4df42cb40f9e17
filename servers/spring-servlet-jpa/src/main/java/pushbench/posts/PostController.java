package pushbench.posts;

import jakarta.validation.Valid;
import java.net.URI;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
class PostController {
  private final PostRepository posts;

  PostController(PostRepository posts) {
    this.posts = posts;
  }

  @PostMapping(path = "/post", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<Void> create(@Valid @RequestBody NewPost post) {
    Post saved = posts.save(new Post(post.title(), post.content()));
    return ResponseEntity.created(URI.create("/post/" + saved.getNo())).build();
  }

  /** Limits a number to the digits that a {@code long} holds. */
  @GetMapping("/post/{no:[0-9]{1,18}}")
  Post read(@PathVariable long no) {
    return posts.findById(no).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
  }
}
