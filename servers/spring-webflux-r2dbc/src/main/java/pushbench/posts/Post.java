package pushbench.posts;

import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/** A row of the table. */
@Table("post")
record Post(@Id Long no, String title, String content) {
  /** Spring Data calls this with the number that the database assigned. */
  Post withNo(Long no) {
    return new Post(no, title, content);
  }
}
