-- What the database of the suite `posts` has from the beginning. Servers create nothing.
CREATE TABLE post (
  no BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  title VARCHAR(200) NOT NULL,
  content TEXT NOT NULL
) CHARACTER SET utf8mb4;
