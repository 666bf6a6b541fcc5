import type { Socket } from 'node:net'
import { connectRaw } from '../fleet/raw-socket.ts'
import {
  maskedFrame,
  OPCODE_CLOSE,
  OPCODE_PING,
  OPCODE_PONG,
  OPCODE_TEXT,
  upgradeRequest,
  walkFrames,
} from '../fleet/wire.ts'
import { EVENT, isSessionEvent, kindOf, PING } from './packets.ts'

/** Address, protocol and handshake of a hub. */
export interface HubAddress {
  readonly port: number
  readonly speaks: 'Socket.IO' | 'WebSocket'
  /** The `auth` of a Socket.IO handshake. */
  readonly auth?: unknown
  /** Path of a plain WebSocket. */
  readonly path?: string
}

export interface HubListener {
  /** Receives each session event; the bytes of its packet are valid during the call. */
  event(data: Buffer, start: number, end: number): void
  /** Runs when the server has closed an accepted connection. */
  closed(why: string): void
}

const SOCKET_IO_PATH = '/socket.io/?EIO=4&transport=websocket'
const HEADERS_END = '\r\n\r\n'
const PONG = maskedFrame(OPCODE_TEXT, Buffer.from('3'))

/**
 * A client of a hub, on a raw TCP socket: the minimum of Socket.IO 4 that connects, emits and listens, so that
 * the load generator takes little of the processor that it shares with the hub.
 */
export class HubSocket {
  private readonly socket: Socket
  private readonly address: HubAddress
  private readonly listener: HubListener
  private readonly pendingAnswers = new Map<number, (answer: unknown) => void>()
  private nextRequest = 0
  private upgraded = false
  private open = false
  private rest: Buffer | undefined
  private why = 'the connection ended'
  private settle: ((refusal?: string) => void) | undefined

  private constructor(address: HubAddress, listener: HubListener) {
    this.address = address
    this.listener = listener
    this.socket = connectRaw(address, (data) => this.read(data))
    const path = address.speaks === 'Socket.IO' ? SOCKET_IO_PATH : (address.path ?? '/')
    this.socket.on('connect', () => this.socket.write(upgradeRequest(path)))
    this.socket.on('error', (cause) => {
      this.why = cause.message
    })
    this.socket.on('close', () => {
      const wasOpen = this.open
      this.open = false
      this.settle?.(this.why)
      for (const answer of this.pendingAnswers.values()) answer(undefined)
      this.pendingAnswers.clear()
      if (wasOpen) listener.closed(this.why)
    })
  }

  /** Connects and waits until the server has accepted; rejects with the server's refusal or with the error. */
  static connect(address: HubAddress, listener: HubListener): Promise<HubSocket> {
    return new Promise((resolve, reject) => {
      const socket = new HubSocket(address, listener)
      socket.settle = (refusal) => {
        socket.settle = undefined
        if (refusal !== undefined) return reject(new Error(refusal))
        socket.open = true
        resolve(socket)
      }
    })
  }

  /** Emits an event; settles with its acknowledgement, or with undefined when the connection ends first. */
  ask(name: string, payload: unknown): Promise<unknown> {
    if (!this.open) return Promise.resolve(undefined)
    const id = this.nextRequest++
    return new Promise((resolve) => {
      this.pendingAnswers.set(id, resolve)
      this.sendPacket(`${EVENT}${id}${JSON.stringify([name, payload])}`)
    })
  }

  /** Destroys the connection without a close frame and without calling the listener. */
  destroy(): void {
    this.open = false
    this.socket.destroy()
  }

  private sendPacket(packet: string): void {
    this.socket.write(maskedFrame(OPCODE_TEXT, Buffer.from(packet)))
  }

  private read(chunk: Buffer): void {
    const data = this.rest ? Buffer.concat([this.rest, chunk]) : chunk
    this.rest = undefined
    let from = 0
    if (!this.upgraded) {
      const headersEnd = data.indexOf(HEADERS_END)
      const status = data.toString('latin1', 0, Math.max(0, data.indexOf('\r\n')))
      if (headersEnd >= 0 && !status.includes(' 101 ')) return this.refuse(status)
      if (headersEnd >= 0) {
        this.upgraded = true
        from = headersEnd + HEADERS_END.length
        if (this.address.speaks === 'WebSocket') this.settle?.()
      }
    }
    const done = this.upgraded ? walkFrames(data, from, this.see) : 0
    // Copied, because all connections share the buffer.
    if (done < data.length) this.rest = Buffer.from(data.subarray(done))
  }

  private readonly see = (opcode: number, data: Buffer, start: number, end: number): void => {
    if (opcode === OPCODE_TEXT) this.handlePacket(data, start, end)
    else if (opcode === OPCODE_PING) this.socket.write(maskedFrame(OPCODE_PONG, data.subarray(start, end)))
    else if (opcode === OPCODE_CLOSE) this.refuse('closed by the server')
  }

  private handlePacket(data: Buffer, start: number, end: number): void {
    if (data[start] === PING) {
      this.socket.write(PONG)
      return
    }
    switch (kindOf(data, start)) {
      case 'event':
        if (isSessionEvent(data, start)) this.listener.event(data, start, end)
        break
      case 'answer':
        this.handleAnswer(data.toString('utf8', start + 2, end))
        break
      case 'opened':
        this.sendPacket(`40${JSON.stringify(this.address.auth ?? {})}`)
        break
      case 'connected':
        this.settle?.()
        break
      case 'refused':
        this.refuse(data.toString('utf8', start + 2, end))
        break
      default: // needs no answer
    }
  }

  /** Handles an acknowledgement: the number of the request and an array with the answer. */
  private handleAnswer(text: string): void {
    const bracket = text.indexOf('[')
    const id = Number(text.slice(0, bracket))
    const settle = this.pendingAnswers.get(id)
    this.pendingAnswers.delete(id)
    settle?.(JSON.parse(text.slice(bracket))[0])
  }

  private refuse(why: string): void {
    this.why = why
    this.socket.destroy()
  }
}
