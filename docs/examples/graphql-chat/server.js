// Subscriptions as in https://the-guild.dev/graphql/ws/get-started, with the events of graphql-subscriptions.
import { buildSchema } from 'graphql';
import { PubSub } from 'graphql-subscriptions';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

const schema = buildSchema(`
  type Message { id: ID!, at: String!, text: String! }
  type Query { rooms: Int }
  type Mutation { say(room: ID!, id: ID!, at: String!, text: String!): Boolean! }
  type Subscription { said(room: ID!): Message! }
`);
const rooms = new PubSub();

useServer(
  {
    schema,
    roots: {
      mutation: { say: ({ room, ...said }) => rooms.publish(room, { said }).then(() => true) },
      subscription: { said: ({ room }) => rooms.asyncIterableIterator(room) },
    },
  },
  new WebSocketServer({ port: Number(process.env.PORT || 8080), path: '/graphql' }),
);
