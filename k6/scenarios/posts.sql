-- The initial content of the database of the suite `posts`. Servers create nothing.
CREATE TABLE post (
  no BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  title VARCHAR(200) NOT NULL,
  content TEXT NOT NULL
) CHARACTER SET utf8mb4;
