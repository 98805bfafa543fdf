#!/bin/sh
# Puts the prepared cluster onto the volume the first time, and serves it.
set -eu
data=/var/lib/postgresql/data/cluster
if [ ! -d "$data" ]; then
    rm -rf "$data.new"
    cp -a /opt/cluster "$data.new"
    mv "$data.new" "$data"
fi
# This is the container's first process, so whatever this file names has ended. Its number may have been
# given to another process since, and the server would then refuse to start.
rm -f "$data/postmaster.pid"
exec postgres -D "$data"
