// node client.js URL: talks to an echo server and checks every answer. It says
// "good" and exits 0 when all came back as it was sent.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import WebSocket from 'ws'

const url = process.argv[2]

// Lengths on both sides of where the form of a length changes.
const lengths = [16, 125, 126, 127, 1000, 65535, 65536, 70 * 1024]

async function message(socket) {
  const [data, isBinary] = await once(socket, 'message')
  return { data, isBinary }
}

async function open(options) {
  const socket = new WebSocket(url, options)
  await once(socket, 'open')
  assert.equal(socket.extensions, '', 'the server takes an extension')
  return socket
}

async function close(socket, code, reason) {
  socket.close(code, reason)
  const [answered] = await once(socket, 'close')
  return answered
}

// One message after another, binary and text, each whole and in fragments.
async function oneByOne() {
  const socket = await open()
  for (const length of lengths) {
    for (const binary of [true, false]) {
      const sent = Buffer.alloc(length, binary ? '\xff\x00' : 'wörter ')
      const text = binary ? sent : Buffer.from(sent.toString('utf8').replaceAll('\ufffd', '?'))
      for (const fragments of [1, 3]) {
        const answer = message(socket)
        for (let i = 0; i < fragments; i++) {
          const part = text.subarray(Math.floor((i * text.length) / fragments), Math.floor(((i + 1) * text.length) / fragments))
          socket.send(part, { binary, fin: i === fragments - 1 })
        }
        const { data, isBinary } = await answer
        assert.equal(isBinary, binary, `${length} bytes came back as the other kind`)
        assert.ok(text.equals(data), `${length} bytes came back changed`)
      }
    }
  }
  assert.equal(await close(socket, 1000), 1000)
}

// Many messages at once, with pings among them.
async function atOnce() {
  const socket = await open({ perMessageDeflate: true })
  let pongs = 0
  let messages = 0
  const all = new Promise((resolve) => {
    const count = () => pongs === 100 && messages === 1000 && resolve()
    socket.on('pong', (payload) => {
      assert.equal(payload.toString(), `ping ${pongs}`)
      pongs++
      count()
    })
    socket.on('message', (data) => {
      assert.equal(data.readUInt32LE(12), messages)
      messages++
      count()
    })
  })
  for (let i = 0; i < 1000; i++) {
    const body = Buffer.alloc(100 + i)
    body.writeUInt32LE(i, 12)
    socket.send(body)
    if (i % 10 === 0) socket.ping(`ping ${i / 10}`)
  }
  await all
  assert.equal(await close(socket, 4321, 'enough'), 4321)
}

// A close without a code, and those that have one.
async function closeCodes() {
  assert.equal(await close(await open()), 1005)
  for (const code of [1000, 1001, 1003, 1008, 1011, 1012, 3000, 4999]) {
    assert.equal(await close(await open(), code, 'because'), code)
  }
}

// What breaks the rules is answered with the code that says so.
async function failures() {
  const cases = [
    [1002, Buffer.from([0xc1, 0x80, 1, 2, 3, 4])], // a reserved bit
    [1002, Buffer.from([0x81, 0x00])], // not masked
    [1007, Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff])], // no UTF-8
    [1009, Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x7f, 0, 0, 0, 1, 2, 3, 4])], // 2 GiB
  ]
  for (const [code, frame] of cases) {
    const socket = await open()
    socket._socket.write(frame)
    const [answered] = await once(socket, 'close')
    assert.equal(answered, code)
  }
}

await oneByOne()
await atOnce()
await closeCodes()
await failures()
console.log('good')
