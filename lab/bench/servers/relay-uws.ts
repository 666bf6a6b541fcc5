import { App, us_socket_local_port, type WebSocket } from 'uWebSockets.js'
import { sendReady } from '../../../test/support/processes/rpc.ts'

// The limit: uWebSockets.js that forwards every message to the other end of its pair.

interface End {
  readonly pair: string
  readonly side: 'operator' | 'robot'
}

const ends = { operator: new Map<string, WebSocket<End>>(), robot: new Map<string, WebSocket<End>>() }

App()
  .ws<End>('/:side/:pair', {
    idleTimeout: 0,
    sendPingsAutomatically: false,
    upgrade(res, req, context) {
      const side = req.getParameter(0) === 'robot' ? 'robot' : 'operator'
      res.upgrade(
        { pair: req.getParameter(1) ?? '', side },
        req.getHeader('sec-websocket-key'),
        req.getHeader('sec-websocket-protocol'),
        req.getHeader('sec-websocket-extensions'),
        context,
      )
    },
    open(socket) {
      const { side, pair } = socket.getUserData()
      ends[side].set(pair, socket)
    },
    message(socket, data, isBinary) {
      const { side, pair } = socket.getUserData()
      // uWebSockets.js drops messages that the other end cannot accept; they are missing at the generator.
      ends[side === 'robot' ? 'operator' : 'robot'].get(pair)?.send(data, isBinary)
    },
    close(socket) {
      const { side, pair } = socket.getUserData()
      if (ends[side].get(pair) === socket) ends[side].delete(pair)
    },
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket) sendReady(us_socket_local_port(socket))
  })
