import type { Socket } from 'node:net'
import { connectRaw } from '../fleet/raw-socket.ts'
import type { PauseWatch } from './pauses.ts'
import { createMqttWire } from './wires/mqtt.ts'
import { createNatsWire } from './wires/nats.ts'
import { createSocketIoWire } from './wires/socketio.ts'
import { createWebSocketWire, type ReadyOn } from './wires/websocket.ts'
import type { End, Wire } from './wires/wire.ts'

/** Address and protocol of a relay. */
export interface RelayAddress {
  readonly port: number
  readonly speaks: 'WebSocket' | 'Socket.IO' | 'MQTT' | 'NATS'
  /** When a WebSocket server has admitted a client. Default: upgrade. */
  readonly readyOn?: ReadyOn
}

const wires: Record<RelayAddress['speaks'], (end: End, address: RelayAddress) => Wire> = {
  WebSocket: (end, address) => createWebSocketWire(end, address.readyOn ?? 'upgrade'),
  'Socket.IO': createSocketIoWire,
  MQTT: createMqttWire,
  NATS: createNatsWire,
}

/** Callbacks of a connection. */
export interface EndListener {
  /** Receives each message; the bytes are valid during the call. */
  message(data: Buffer, start: number, end: number): void
  /** Runs after all messages of one read. */
  readDone(): void
  closed(why: string): void
}

/** A connection of the load generator: a raw TCP socket that implements a minimum of a relay's protocol. */
export class EndSocket {
  open = false
  private readonly socket: Socket
  private readonly wire: Wire
  private readonly clock: PauseWatch
  private readonly listener: EndListener
  private rest: Buffer | undefined
  private why = 'the connection ended'
  private settle: ((refusal?: string) => void) | undefined

  private constructor(end: End, address: RelayAddress, clock: PauseWatch, listener: EndListener) {
    this.wire = wires[address.speaks](end, address)
    this.clock = clock
    this.listener = listener
    this.socket = connectRaw(address, (data) => this.read(data))
    this.socket.on('connect', () => this.socket.write(this.wire.hello()))
    this.socket.on('error', (cause) => {
      this.why = cause.message
    })
    this.socket.on('close', () => {
      const wasOpen = this.open
      this.open = false
      this.settle?.(this.why)
      if (wasOpen) listener.closed(this.why)
    })
  }

  /** Connects and waits until the relay has admitted this end. */
  static connect(
    end: End,
    address: RelayAddress,
    clock: PauseWatch,
    listener: EndListener,
  ): Promise<EndSocket> {
    return new Promise((resolve, reject) => {
      const socket = new EndSocket(end, address, clock, listener)
      socket.settle = (refusal) => {
        socket.settle = undefined
        if (refusal !== undefined) return reject(new Error(`${end.side} ${end.pair}: ${refusal}`))
        socket.open = true
        resolve(socket)
      }
    })
  }

  /** Returns the bytes on the wire for a message to the other end. */
  wrap(payload: Buffer): Buffer {
    return this.wire.wrap(payload)
  }

  /** Writes the result of `wrap`. */
  write(bytes: Buffer): void {
    if (this.open) this.socket.write(bytes)
  }

  send(payload: Buffer): void {
    this.write(this.wrap(payload))
  }

  /** Destroys the connection without calling the listener. */
  destroy(): void {
    this.open = false
    this.socket.destroy()
  }

  private read(chunk: Buffer): void {
    this.clock.poll(performance.now())
    const data = this.rest ? Buffer.concat([this.rest, chunk]) : chunk
    this.rest = undefined
    const done = this.wire.read(data, this)
    this.listener.readDone()
    // Copied, because all connections share the buffer.
    if (done < data.length) this.rest = Buffer.from(data.subarray(done))
  }

  // Callbacks of the wire:

  ready(): void {
    this.settle?.()
  }

  refused(why: string): void {
    this.why = why
    this.socket.destroy()
  }

  message(data: Buffer, start: number, end: number): void {
    this.listener.message(data, start, end)
  }

  answer(bytes: Buffer): void {
    this.socket.write(bytes)
  }
}
