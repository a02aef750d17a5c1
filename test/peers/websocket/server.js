// node server.js [MESSAGES]: an echo server. It says on which port it listens,
// and with which code each connection ended. With MESSAGES it closes after so
// many. It pings with every tenth message, and ends with its standard input.
import { WebSocketServer } from 'ws'

const most = Number(process.argv[2] ?? Infinity)
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })

server.on('listening', () => console.log(`port ${server.address().port}`))
server.on('connection', (socket) => {
  let messages = 0
  let pings = 0
  socket.on('error', (err) => console.log(`error ${err.message}`))
  socket.on('close', (code) => console.log(`closed ${code} ${pings} pings unanswered`))
  socket.on('pong', () => pings--)
  socket.on('message', (data, binary) => {
    if (++messages > most) return
    if (messages % 10 === 0) {
      socket.ping('there?')
      pings++
    }
    socket.send(data, { binary })
    if (messages === most) socket.close(1001, 'enough')
  })
})

process.stdin.resume()
process.stdin.on('end', () => process.exit())
