#!/bin/sh
# Writes server.jsa beside the unpacked server.jar in the folder $1: the classes that the server loads at its start, in
# the form that its JVM maps into memory. The server must be started by the same path. Further arguments are options of
# the JVM.
#
# The same server and JVM give the same bytes: the list of classes contains no numbers of a single run, and no profile
# is kept. docs/method.md describes what the archive changes, and why it is not an AOT cache.
set -eu
server=$1
shift

# The JVM rejects the archive if a jar has another time. Builds of images lower times to that of the last commit.
touch -d 2000-01-01T00:00:00Z "$server"/server.jar "$server"/lib/*.jar

# Spring creates all beans and exits before it listens. A server with a database needs an address, at which no server
# listens. Tomcat's background work is off, because in a start of more than 10 s it would load classes of its own. The
# thread with which Spring Boot begins is off, too: the classes that it loads as it ends depend on when it ends.
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

# This fails if the JVM rejects the archive. A server would only warn, and start without it.
java "$@" -Xshare:on -XX:SharedArchiveFile="$server"/server.jsa -cp "$server"/server.jar -version
