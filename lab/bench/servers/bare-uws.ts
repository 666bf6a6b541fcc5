import { App, us_socket_local_port } from 'uWebSockets.js'
import { offer, sendReady } from '../../../test/support/processes/rpc.ts'

// The limit: uWebSockets.js that receives WebSocket frames and does nothing with them.

let receivedFrames = 0

const handlers = { received: () => receivedFrames }
export type BareServer = typeof handlers

offer(handlers)
App()
  .ws('/*', {
    idleTimeout: 0,
    sendPingsAutomatically: false,
    message() {
      receivedFrames++
    },
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket) sendReady(us_socket_local_port(socket))
  })
