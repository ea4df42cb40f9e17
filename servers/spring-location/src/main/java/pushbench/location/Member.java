package pushbench.location;

/** A user of a group. */
record Member(String group, String user) {
  Member {
    Ids.check("group", group);
    Ids.check("user", user);
  }
}
