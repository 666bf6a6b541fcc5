import { once } from 'node:events'
import * as library from 'roslib'

// Declares the part of roslib that tests use: roslib's own declarations import files without extensions, which
// TypeScript does not resolve here.

export interface RosClient extends NodeJS.EventEmitter {
  connect(url: string): Promise<void>
  close(): void
}
interface TopicOptions {
  readonly ros: RosClient
  readonly name: string
  readonly messageType: string
}
interface RosTopic {
  subscribe(listener: (message: Record<string, unknown>) => void): void
  publish(message: unknown): void
  unadvertise(): void
}
interface RosService {
  callService(request: unknown, onAnswer: (answer: unknown) => void, onFailure: (why: unknown) => void): void
}
interface RosLib {
  readonly Ros: new (options: object) => RosClient
  readonly Topic: new (options: TopicOptions) => RosTopic
  readonly Service: new (options: { ros: RosClient; name: string; serviceType: string }) => RosService
}
const typedLibrary = library as unknown as RosLib
export const { Topic, Service } = typedLibrary

/** Connects a roslib client. */
export async function connectRoslib(port: number): Promise<RosClient> {
  const ros = new typedLibrary.Ros({})
  const connected = once(ros, 'connection') // rejects on `error`
  await ros.connect(`ws://127.0.0.1:${port}`)
  await connected
  ros.on('error', () => {}) // `close` follows
  return ros
}
