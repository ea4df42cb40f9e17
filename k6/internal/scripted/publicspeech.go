package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Publics are the public protocols that scripted servers speak, by the names of their examples.
var Publics = map[string]speech{
	"phoenix-chat": {path: "/socket/websocket", query: "vsn=2.0.0", hear: hearPhoenix},
	"actioncable-chat": {
		path: "/cable", subprotocol: "actioncable-v1-json", greeting: `{"type":"welcome"}`,
		ping: `{"type":"ping","message":1764000000}`, hear: hearActionCable,
	},
	"signalr-chat": {path: "/chatHub", terminator: "\x1e", ping: `{"type":6}`, hear: hearSignalR},
	"centrifugo-chat": {
		path: "/connection/websocket", separator: "\n", ping: `{}`, wantPong: true, hear: hearCentrifugo,
	},
}

var errUnknown = errors.New("a message that the protocol does not have")

// hearPhoenix interprets version 2 of the JSON of Phoenix channels:
// lib/phoenix/socket/serializers/v2_json_serializer.ex of Phoenix.
func hearPhoenix(c *caller, text []byte) error {
	var parts []json.RawMessage
	var joinRef, ref *string
	var topic, event string
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 5 {
		return errUnknown
	}
	for place, to := range []any{&joinRef, &ref, &topic, &event} {
		if err := json.Unmarshal(parts[place], to); err != nil {
			return err
		}
	}
	reply := func() string {
		return fmt.Sprintf(`[%s,%s,%q,"phx_reply",{"response":{},"status":"ok"}]`, parts[0], parts[1], topic)
	}
	switch {
	case ref == nil:
		return errUnknown
	case topic == "phoenix" && event == "heartbeat":
		c.say(reply())
		return nil
	case joinRef == nil:
		return errors.New("an event without the reference of its join")
	case event == "phx_join":
		c.begun = true
		err := c.join(topic)
		c.say(reply())
		return err
	case event == "new_msg":
		return c.tell(topic, fmt.Sprintf(`[null,null,%q,"new_msg",%s]`, topic, parts[4]))
	case event == "phx_leave":
		c.server.leave(c)
		c.say(reply())
		c.say(fmt.Sprintf(`[%s,%s,%q,"phx_close",{}]`, parts[0], parts[0], topic))
		return nil
	}
	return errUnknown
}

// hearActionCable interprets the JSON of Action Cable: https://docs.anycable.io/misc/action_cable_protocol
func hearActionCable(c *caller, text []byte) error {
	var message struct{ Command, Identifier, Data string }
	var channel struct{ Channel, Room string }
	if err := json.Unmarshal(text, &message); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(message.Identifier), &channel); err != nil || channel.Channel != "ChatChannel" {
		c.say(fmt.Sprintf(`{"identifier":%s,"type":"reject_subscription"}`, inJSON(message.Identifier)))
		return errUnknown
	}
	switch message.Command {
	case "subscribe":
		err := c.join(message.Identifier)
		c.say(fmt.Sprintf(`{"identifier":%s,"type":"confirm_subscription"}`, inJSON(message.Identifier)))
		return err
	case "message":
		var data map[string]json.RawMessage
		if err := json.Unmarshal([]byte(message.Data), &data); err != nil || string(data["action"]) != `"speak"` {
			return errUnknown
		}
		delete(data, "action")
		return c.tell(message.Identifier,
			fmt.Sprintf(`{"identifier":%s,"message":%s}`, inJSON(message.Identifier), inJSON(data)))
	case "unsubscribe":
		c.server.leave(c)
		return nil
	}
	return errUnknown
}

// hearSignalR interprets the JSON of SignalR's hub protocol: src/SignalR/docs/specs/HubProtocol.md of ASP.NET Core.
func hearSignalR(c *caller, text []byte) error {
	text, ended := bytes.CutSuffix(text, []byte(c.server.terminator))
	var message struct {
		Protocol             string
		Type                 int
		InvocationID, Target string
		Arguments            []string
	}
	if err := json.Unmarshal(text, &message); err != nil || !ended {
		return errors.New("no JSON with a record separator behind it")
	}
	if !c.begun {
		c.begun = message.Protocol == "json"
		c.say(`{}`)
		return nil
	}
	switch arguments := message.Arguments; {
	case message.Type == 6:
		return nil
	case message.Type == 1 && message.Target == "Join" && len(arguments) == 1:
		err := c.join(arguments[0])
		c.say(fmt.Sprintf(`{"type":3,"invocationId":%q,"result":null}`, message.InvocationID))
		return err
	case message.Type == 1 && message.Target == "SendMessage" && len(arguments) == 3:
		return c.tell(arguments[0],
			`{"type":1,"target":"ReceiveMessage","arguments":`+inJSON(arguments[1:])+`}`, c.server.ping)
	case message.Type == 1 && message.Target == "Leave":
		c.server.leave(c)
		return nil
	}
	return errUnknown
}

// hearCentrifugo interprets the JSON of Centrifugo: https://centrifugal.dev/docs/transports/client_protocol
func hearCentrifugo(c *caller, text []byte) error {
	for _, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if err := hearCommand(c, line); err != nil {
			return err
		}
	}
	return nil
}

func hearCommand(c *caller, text []byte) error {
	if string(text) == `{}` {
		return c.ponged()
	}
	var command struct {
		ID                              uint32
		Connect                         *struct{}
		Subscribe, Publish, Unsubscribe *struct {
			Channel string
			Data    json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &command); err != nil {
		return err
	}
	switch {
	case command.ID == 0:
		return errors.New("a command without an id")
	case command.Connect != nil && !c.begun:
		c.begun = true
		c.say(fmt.Sprintf(`{"id":%d,"connect":{"client":"scripted","version":"0","ping":25,"pong":true}}`, command.ID))
		return nil
	case !c.begun:
		return errors.New("a command before connect")
	case command.Subscribe != nil:
		err := c.join(command.Subscribe.Channel)
		c.say(fmt.Sprintf(`{"id":%d,"subscribe":{}}`, command.ID))
		return err
	case command.Publish != nil:
		return c.tell(command.Publish.Channel, fmt.Sprintf(`{"push":{"channel":%q,"pub":{"data":%s}}}`,
			command.Publish.Channel, command.Publish.Data), fmt.Sprintf(`{"id":%d,"publish":{}}`, command.ID))
	case command.Unsubscribe != nil:
		c.server.leave(c)
		c.say(fmt.Sprintf(`{"id":%d,"unsubscribe":{}}`, command.ID))
		return nil
	}
	return errUnknown
}
