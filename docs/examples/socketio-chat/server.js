// The chat of https://socket.io/docs/v4/tutorial/introduction, in rooms: https://socket.io/docs/v4/rooms/
import { Server } from 'socket.io';

const io = new Server(Number(process.env.PORT || 8080));

io.on('connection', (socket) => {
  socket.on('join', (room, done) => {
    socket.data.room = room;
    socket.join(room);
    done();
  });
  socket.on('chat message', (...message) => {
    io.to(socket.data.room).emit('chat message', ...message);
  });
});
