// A chat on centrifuge, the library of Centrifugo: https://github.com/centrifugal/centrifuge#quick-example
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/centrifugal/centrifuge"
)

func main() {
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		log.Fatal(err)
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{}}, nil
	})
	node.OnConnect(func(client *centrifuge.Client) {
		client.OnSubscribe(func(_ centrifuge.SubscribeEvent, allow centrifuge.SubscribeCallback) {
			allow(centrifuge.SubscribeReply{}, nil)
		})
		client.OnPublish(func(_ centrifuge.PublishEvent, allow centrifuge.PublishCallback) {
			allow(centrifuge.PublishReply{}, nil)
		})
	})
	if err := node.Run(); err != nil {
		log.Fatal(err)
	}
	http.Handle("/connection/websocket", centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{}))
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}
