"""The protocol `posts-http`: JSON over HTTP/1.1, on /post and /post/{no}."""
