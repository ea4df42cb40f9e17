package pushbench.posts;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;

/** A row of the table {@code post}. */
@Entity
class Post {
  @Id
  @GeneratedValue(strategy = GenerationType.IDENTITY)
  private Long no;

  private String title;
  private String content;

  protected Post() {}

  Post(String title, String content) {
    this.title = title;
    this.content = content;
  }

  public Long getNo() {
    return no;
  }

  public String getTitle() {
    return title;
  }

  public String getContent() {
    return content;
  }
}
