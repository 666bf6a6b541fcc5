import type { RobotStatusEvent } from '@wheelhouse/protocol'
import { io } from 'socket.io-client'
import type { Lab } from './lab.ts'

export interface Observer {
  /** Calls back for every robot that turns OFFLINE, with the time of `performance.now()`. */
  onOffline(listener: (robotId: string, atMs: number) => void): void
  close(): void
}

/** Starts a stand-in for the owner's browser: a Socket.IO client that watches its robots. */
export async function startObserver(lab: Lab, hubUrl: string): Promise<Observer> {
  const url = new URL(hubUrl)
  url.hostname = '127.0.0.1' // the server's address; name resolution is not measured
  const socket = io(url.href, { auth: { token: lab.ownerKey }, transports: ['websocket'] })
  let listener = (_robotId: string, _atMs: number) => {}
  socket.on('robot:status', ({ robot_id, status }: RobotStatusEvent) => {
    if (status === 'OFFLINE') listener(robot_id, performance.now())
  })
  const answer = await socket.timeout(10_000).emitWithAck('robots:watch', {})
  if (answer.ok !== true) throw new Error(`robots:watch was refused: ${answer.error}`)
  return {
    onOffline: (next) => {
      listener = next
    },
    close: () => void socket.disconnect(),
  }
}
