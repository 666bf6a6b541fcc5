import { EventEmitter } from 'node:events'
import {
  type FromRecorder,
  type FromSource,
  readSamples,
  type StreamSample,
} from '../../../src/modules/recordings/transport/sample-wire.ts'

/** A WebSocket without a network. */
export class FakeSocket extends EventEmitter {
  readonly url: string
  readonly authorization: string
  bufferedAmount = 0
  readonly messages: FromSource[] = []
  readonly samples: StreamSample[] = []
  pings = 0
  isTerminated = false

  constructor(url: string, authorization: string) {
    super()
    this.url = url
    this.authorization = authorization
  }

  send(data: string | Uint8Array): void {
    if (typeof data === 'string') this.messages.push(JSON.parse(data))
    else for (const sample of readSamples(Buffer.from(data))) this.samples.push(sample)
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
    return this.samples.map(({ payload }) => String(payload))
  }
}
