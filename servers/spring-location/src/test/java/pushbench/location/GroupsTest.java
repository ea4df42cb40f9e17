package pushbench.location;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;

class GroupsTest {
  private static final OptionalLong NOTHING = OptionalLong.empty();

  private long now = 1;
  private final Groups groups = new Groups(() -> now);

  @Test
  void tellsTheNewestPositionOfEachOtherUser() {
    put("a", 1);
    put("b", 2);
    put("a", 3);
    assertThat(newsFor("b", NOTHING)).isEqualTo(news(3, position("a", 3)));
    assertThat(newsFor("c", NOTHING)).isEqualTo(news(3, position("b", 2), position("a", 3)));
    assertThat(newsFor("b", OptionalLong.of(3))).isEqualTo(news(3));
    assertThat(newsFor("c", OptionalLong.of(2))).isEqualTo(news(3, position("a", 3)));
  }

  @Test
  void aVersionFromBeforeTheGroupWasForgottenDoesNotCount() {
    put("a", 1);
    assertThat(newsFor("b", OptionalLong.of(2))).isEqualTo(news(1, position("a", 1)));
  }

  @Test
  void groupsAreApart() {
    put("a", 1);
    assertThat(groups.newsFor(new Member("other", "b"), NOTHING)).isEqualTo(news(0));
    assertThat(groups.size()).isEqualTo(1);
  }

  @Test
  void listenersAreToldEachPositionOfAnotherUser() {
    put("a", 1);
    List<News> told = new ArrayList<>();
    Listener listener = told::add;
    groups.listen(new Member("g", "b"), NOTHING, listener);
    put("a", 2);
    put("b", 3);
    put("a", 4);
    groups.leave(new Member("g", "b"), listener);
    put("a", 5);
    assertThat(told)
        .containsExactly(
            news(1, position("a", 1)), news(2, position("a", 2)), news(4, position("a", 4)));
  }

  @Test
  void aGroupHasAtMost64Users() {
    for (int user = 0; user < 64; user++) {
      put("u" + user, user);
    }
    assertThatThrownBy(() -> put("one-more", 0))
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.status()).isEqualTo(HttpStatus.CONFLICT));
    put("u0", 64);
    assertThat(newsFor("u1", OptionalLong.of(64))).isEqualTo(news(65, position("u0", 64)));
  }

  @Test
  void aGroupIsForgotten60SecondsAfterItsLastPosition() {
    put("a", 1);
    pass(Duration.ofSeconds(59));
    assertThat(groups.size()).isEqualTo(1);
    put("a", 2);
    pass(Duration.ofSeconds(59));
    assertThat(groups.size()).isEqualTo(1);
    pass(Duration.ofSeconds(1));
    assertThat(groups.size()).isZero();
    put("a", 3);
    assertThat(newsFor("b", NOTHING)).isEqualTo(news(1, position("a", 3)));
  }

  @Test
  void aGroupIsKeptWhileSomebodyListens() {
    put("a", 1);
    Listener listener = news -> {};
    groups.listen(new Member("g", "b"), NOTHING, listener);
    pass(Duration.ofSeconds(90));
    assertThat(groups.size()).isEqualTo(1);
    groups.leave(new Member("g", "b"), listener);
    groups.forget("g"::equals);
    assertThat(groups.size()).isEqualTo(1);
    pass(Duration.ZERO);
    assertThat(groups.size()).isZero();
  }

  private void pass(Duration time) {
    now += time.toNanos();
    groups.forget(id -> false);
  }

  private void put(String user, long seq) {
    groups.put("g", position(user, seq));
  }

  private News newsFor(String user, OptionalLong since) {
    return groups.newsFor(new Member("g", user), since);
  }

  private static News news(long version, Position... positions) {
    return new News(version, List.of(positions));
  }

  private static Position position(String user, long seq) {
    return new Position(user, 1, 2, seq, 3);
  }
}
