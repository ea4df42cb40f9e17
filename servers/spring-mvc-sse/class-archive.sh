#!/bin/sh
# Writes server.jsa beside the unpacked server.jar in the folder $1: the classes that the server loads at its start, in
# the form that its JVM maps into memory. The server is started by the same path. Further arguments are options of the
# JVM.
#
# The same server and JVM give the same bytes: the list of classes has no numbers of one run, and no profile is kept.
# docs/method.md says what the archive changes, and why it is not an AOT cache.
set -eu
server=$1
shift

# The JVM refuses the archive where a jar has another time. Builds of images lower times to that of the last commit.
touch -d 2000-01-01T00:00:00Z "$server"/server.jar "$server"/lib/*.jar

# Spring makes all beans and ends before it listens. A server with a database needs an address; nobody listens there.
# Tomcat's background work is off: where a start takes more than 10 s it would load classes of its own. So is the thread
# with which Spring Boot begins: what it loads as it ends depends on when that is.
DATABASE_URL=mysql://nobody:none@127.0.0.1:1/none java "$@" -XX:TieredStopAtLevel=1 \
  -XX:DumpLoadedClassList="$server"/loaded.txt -Dspring.context.exit=onRefresh \
  -Dspring.backgroundpreinitializer.ignore=true -Dserver.tomcat.background-processor-delay=0s \
  -jar "$server"/server.jar
{
  grep -v '^[#@]' "$server"/loaded.txt | sed 's/ id: .*//' | LC_ALL=C sort -u
  grep '^@lambda' "$server"/loaded.txt | LC_ALL=C sort -u
} > "$server"/classes.txt
java "$@" -Xshare:dump -Xlog:disable -Xlog:all=error:stderr -XX:SharedClassListFile="$server"/classes.txt \
  -XX:SharedArchiveFile="$server"/server.jsa -jar "$server"/server.jar
rm "$server"/loaded.txt "$server"/classes.txt

# This fails where the JVM refuses the archive. A server would only warn, and start without it.
java "$@" -Xshare:on -XX:SharedArchiveFile="$server"/server.jsa -cp "$server"/server.jar -version
