import { EventEmitter } from 'node:events'
import {
  type FromRecorder,
  type FromSource,
  readRecords,
  type StreamRecord,
} from '../../../src/modules/recordings/transport/record-wire.ts'

/** A WebSocket without a network. */
export class FakeSocket extends EventEmitter {
  readonly url: string
  readonly authorization: string
  bufferedAmount = 0
  readonly messages: FromSource[] = []
  readonly records: StreamRecord[] = []
  pings = 0
  isTerminated = false

  constructor(url: string, authorization: string) {
    super()
    this.url = url
    this.authorization = authorization
  }

  send(data: string | Uint8Array): void {
    if (typeof data === 'string') this.messages.push(JSON.parse(data))
    else for (const record of readRecords(Buffer.from(data))) this.records.push(record)
  }
  ping(): void {
    this.pings++
  }
  terminate(): void {
    this.isTerminated = true
    this.emit('close')
  }
  close(): void {
    this.emit('close')
  }
  says(message: FromRecorder): void {
    this.emit('message', Buffer.from(JSON.stringify(message)), false)
  }
  get texts(): string[] {
    return this.records.map(({ payload }) => String(payload))
  }
}
