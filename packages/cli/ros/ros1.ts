import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { md5, parse, stringify } from '@foxglove/rosmsg'
import { MessageReader, MessageWriter } from '@foxglove/rosmsg-serialization'
import { Backoff } from '@wheelhouse/sdk'
import { z } from 'zod'
import { definitionsFor, withDefaults } from './definitions.ts'
import {
  MAX_UNSENT_ROS_BYTES,
  plainType,
  RateLimit,
  type RosMessage,
  type RosSource,
  type RosTopic,
  type SourceOptions,
  type Subscription,
} from './source.ts'
import { createConnectionReader, type FrameReader, frameOf, headerFrame } from './tcpros.ts'
import { callRos, serveRos } from './xmlrpc.ts'

/** How often the master is asked whether it is there. */
const MASTER_CHECK_MS = 500
const MASTER_TIMEOUT_MS = 1_500
const NODE_TIMEOUT_MS = 3_000
/** A subscriber that has not sent its header is closed. */
const HEADER_TIMEOUT_MS = 5_000
const CLOSE_TIMEOUT_MS = 500
/** Nodes that subscribe to the topics of this program. */
const MAX_SUBSCRIBERS = 64
/** Nodes that publish one topic. */
const MAX_PUBLISHERS = 32
const RETRY = { baseMs: 100, maxMs: 1_000 }

const Uris = z.array(z.string())
const TopicTypes = z.array(z.tuple([z.string(), z.string()]))
const RequestTopicAnswer = z.tuple([z.literal('TCPROS'), z.string(), z.number()])

/** A topic that this program publishes. */
interface Publication {
  readonly type: string
  readonly md5sum: string
  readonly text: string
  readonly encode: (message: RosMessage) => Buffer
  readonly subscribers: Set<Socket>
}

interface Servers {
  /** The address of this program as other nodes reach it. */
  readonly host: string
  readonly api: Awaited<ReturnType<typeof serveRos>>
  readonly tcp: Server
}

/** A node of ROS 1, which talks to the master and to the other nodes directly. */
export class Ros1Source implements RosSource {
  readonly #options: SourceOptions
  /** Unique, because the master ends an older node of the same name. */
  readonly #name = `/wheelhouse_${randomUUID().slice(0, 8)}`
  readonly #publications = new Map<string, Publication>()
  readonly #links = new Map<string, Map<string, PublisherLink>>()
  #servers: Servers | undefined
  /** Which run of the master knows this node; a restarted master knows no node. */
  #runId: string | undefined
  #isUp = false
  #isReportedDown = false
  #closed = false
  #timer: NodeJS.Timeout | undefined

  /** @throws Error for a publication of a type that is not common */
  constructor(options: SourceOptions) {
    this.#options = options
    for (const { topic, type } of options.publications) {
      const definitions = definitionsFor(type, 'ros1')
      const writer = new MessageWriter(definitions)
      this.#publications.set(topic, {
        type: plainType(type),
        md5sum: md5(definitions),
        text: stringify(definitions),
        encode: (message) => frameOf(writer.writeMessage(withDefaults(message, definitions))),
        subscribers: new Set(),
      })
    }
    void this.#check()
  }

  get isUp(): boolean {
    return this.#isUp
  }

  publish(topic: string, message: RosMessage): boolean {
    const publication = this.#publications.get(topic)
    if (!publication || publication.subscribers.size === 0) return false
    const frame = publication.encode(message)
    let sent = false
    for (const socket of publication.subscribers) {
      if (socket.writableLength > MAX_UNSENT_ROS_BYTES) socket.destroy()
      else {
        socket.write(frame)
        sent = true
      }
    }
    return sent
  }

  call(): boolean {
    return false
  }

  async topics(): Promise<readonly RosTopic[]> {
    const types = TopicTypes.parse(await this.#master('getTopicTypes', []))
    return types.map(([name, type]) => ({ name, type }))
  }

  async robotDescription(): Promise<string | undefined> {
    const value = await this.#master('getParam', ['/robot_description']).catch(() => undefined)
    return typeof value === 'string' ? value : undefined
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#forgetPublishers()
    const servers = this.#servers
    if (!servers) return
    const { api } = this.#addresses(servers)
    const unregister = [
      ...this.#options.subscriptions.map(({ topic }) => this.#master('unregisterSubscriber', [topic, api])),
      ...this.#options.publications.map(({ topic }) => this.#master('unregisterPublisher', [topic, api])),
    ]
    if (this.#isUp) await Promise.allSettled(unregister)
    else for (const pending of unregister) pending.catch(() => {})
    const sockets = [...this.#publications.values()].flatMap(({ subscribers }) => [...subscribers])
    await Promise.all(sockets.map(flushed))
    servers.api.close()
    servers.tcp.close()
  }

  /** Follows the master: registers this node with every new run of it. */
  async #check(): Promise<void> {
    try {
      const runId = String(await this.#master('getParam', ['/run_id']))
      if (this.#closed) return
      if (!this.#isUp || runId !== this.#runId) await this.#register(runId)
    } catch (cause) {
      this.#down(cause instanceof Error ? cause.message : String(cause))
    }
    if (!this.#closed) this.#timer = setTimeout(() => void this.#check(), MASTER_CHECK_MS)
  }

  async #register(runId: string): Promise<void> {
    if (this.#isUp) this.#down('the master has restarted')
    this.#servers ??= await this.#listen()
    const { api } = this.#addresses(this.#servers)
    if (runId !== this.#runId) this.#forgetPublishers()
    for (const [topic, { type }] of this.#publications)
      await this.#master('registerPublisher', [topic, type, api])
    for (const { topic, type } of this.#options.subscriptions) {
      const publishers = await this.#master('registerSubscriber', [topic, plainType(type), api])
      this.#follow(topic, Uris.parse(publishers))
    }
    if (this.#closed) return
    this.#runId = runId
    this.#isUp = true
    this.#isReportedDown = false
    this.#run(() => this.#options.onUp())
  }

  /** Connections to nodes remain: what brakes the robot still reaches it. */
  #down(reason: string): void {
    this.#isUp = false
    if (this.#isReportedDown || this.#closed) return
    this.#isReportedDown = true
    this.#run(() => this.#options.onDown(reason))
  }

  #master(method: string, params: readonly string[]): Promise<unknown> {
    return callRos(this.#options.url, method, [this.#name, ...params], MASTER_TIMEOUT_MS)
  }

  async #listen(): Promise<Servers> {
    const host = await this.#ownHost()
    const api = await serveRos(host, {
      getPid: () => process.pid,
      getMasterUri: () => this.#options.url,
      getBusStats: () => [[], [], 0],
      getBusInfo: () => [],
      getSubscriptions: () => this.#options.subscriptions.map(({ topic, type }) => [topic, plainType(type)]),
      getPublications: () => [...this.#publications].map(([topic, { type }]) => [topic, type]),
      paramUpdate: () => 0,
      shutdown: () => 0,
      publisherUpdate: ([, topic, publishers]) => {
        const uris = Uris.safeParse(publishers)
        if (typeof topic === 'string' && uris.success) this.#follow(topic, uris.data)
        return 0
      },
      requestTopic: () => ['TCPROS', host, (tcp.address() as AddressInfo).port],
    })
    const tcp = createServer((socket) => this.#accept(socket))
    tcp.maxConnections = MAX_SUBSCRIBERS
    tcp.on('error', (cause) => this.#options.onProblem(cause.message))
    tcp.listen(0, host)
    await once(tcp, 'listening')
    return { host, api, tcp }
  }

  #addresses({ host, api }: Servers) {
    return { api: `http://${host.includes(':') ? `[${host}]` : host}:${api.port}/` }
  }

  /** Returns the address of this machine on the way to the master, unless another is named. */
  async #ownHost(): Promise<string> {
    if (this.#options.ownHost) return this.#options.ownHost
    const { hostname, port } = new URL(this.#options.url)
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 11311) })
    socket.setTimeout(MASTER_TIMEOUT_MS, () => socket.destroy(new Error('the master does not answer')))
    try {
      await once(socket, 'connect')
      return socket.localAddress ?? '127.0.0.1'
    } finally {
      socket.destroy()
    }
  }

  /** Handles a node that subscribes to a topic of this program. */
  #accept(socket: Socket): void {
    // Nagle's algorithm would hold commands back for up to 40 ms.
    socket.setNoDelay(true)
    socket.setTimeout(HEADER_TIMEOUT_MS, () => socket.destroy())
    readFrames(socket, (header) => {
      const publication = this.#publications.get(header.get('topic') ?? '')
      const problem = publication ? mismatch(header, publication) : 'it does not publish this topic'
      if (!publication || problem) {
        const name = header.get('callerid') ?? 'a node'
        this.#options.onProblem(`${name} cannot subscribe to ${header.get('topic')}: ${problem}`)
        return void socket.end(headerFrame({ error: problem ?? '' }))
      }
      socket.setTimeout(0)
      const { type, md5sum, text, subscribers } = publication
      socket.write(
        headerFrame({ callerid: this.#name, latching: '0', md5sum, message_definition: text, type }),
      )
      subscribers.add(socket)
      socket.once('close', () => subscribers.delete(socket))
    })
  }

  /** Connects to the publishers of a topic, and leaves the others. */
  #follow(topic: string, uris: readonly string[]): void {
    const subscription = this.#options.subscriptions.find((item) => item.topic === topic)
    if (!subscription || this.#closed) return
    const links = this.#links.get(topic) ?? new Map<string, PublisherLink>()
    this.#links.set(topic, links)
    const wanted = new Set(uris.slice(0, MAX_PUBLISHERS))
    for (const [uri, link] of links) {
      if (wanted.has(uri)) continue
      link.close()
      links.delete(uri)
    }
    for (const uri of wanted) {
      if (links.has(uri)) continue
      const { onMessage, onProblem } = this.#options
      const link = new PublisherLink({ name: this.#name, uri, subscription, onMessage, onProblem })
      links.set(uri, link)
    }
  }

  #forgetPublishers(): void {
    for (const links of this.#links.values()) for (const link of links.values()) link.close()
    this.#links.clear()
  }

  #run(work: () => void): void {
    try {
      work()
    } catch (cause) {
      this.#options.onProblem(String(cause))
    }
  }
}

interface PublisherLinkOptions extends Pick<SourceOptions, 'onMessage' | 'onProblem'> {
  readonly name: string
  /** Address of the node that publishes. */
  readonly uri: string
  readonly subscription: Subscription
}

/** The connection to one node that publishes a topic. It connects again until it is closed. */
class PublisherLink {
  readonly #options: PublisherLinkOptions
  readonly #backoff = new Backoff(RETRY)
  readonly #rate: RateLimit
  #socket: Socket | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: PublisherLinkOptions) {
    this.#options = options
    this.#rate = new RateLimit(options.subscription.rateHz)
    void this.#connect()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#socket?.destroy()
  }

  async #connect(): Promise<void> {
    const { name, uri, subscription } = this.#options
    try {
      const params = [name, subscription.topic, [['TCPROS']]]
      const answer = RequestTopicAnswer.parse(await callRos(uri, 'requestTopic', params, NODE_TIMEOUT_MS))
      if (!this.#closed) this.#open(answer[1], answer[2])
    } catch {
      this.#retry() // the node has ended, or is not ready yet
    }
  }

  #open(host: string, port: number): void {
    const { name, subscription } = this.#options
    const socket = connect({ host, port, noDelay: true, keepAlive: true })
    this.#socket = socket
    let reader: MessageReader | undefined
    socket.setTimeout(HEADER_TIMEOUT_MS, () => socket.destroy())
    socket.once('connect', () =>
      socket.write(
        headerFrame({
          callerid: name,
          md5sum: '*',
          tcp_nodelay: '1',
          topic: subscription.topic,
          type: plainType(subscription.type),
        }),
      ),
    )
    readFrames(
      socket,
      (header) => {
        const error = header.get('error')
        if (error !== undefined) throw new Error(error)
        reader = new MessageReader(parse(header.get('message_definition') ?? ''))
        socket.setTimeout(0)
        this.#backoff.reset()
      },
      (message) => {
        if (reader && this.#rate.admits(performance.now()))
          this.#options.onMessage(subscription.topic, reader.readMessage(message))
      },
      (cause) => this.#options.onProblem(`${subscription.topic}: ${cause}`),
    )
    socket.once('close', () => this.#retry())
  }

  #retry(): void {
    if (!this.#closed) this.#timer = setTimeout(() => void this.#connect(), this.#backoff.nextDelayMs())
  }
}

/** Reads a connection to a node. Destroys it, and reports the reason, when what arrives cannot be read. */
function readFrames(
  socket: Socket,
  onHeader: (header: ReadonlyMap<string, string>) => void,
  onMessage: (message: Buffer) => void = () => {},
  onFailure: (reason: string) => void = () => {},
): void {
  const reader: FrameReader = createConnectionReader(onHeader, onMessage)
  socket.on('error', () => {}) // `close` follows
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk)
    } catch (cause) {
      onFailure(cause instanceof Error ? cause.message : String(cause))
      socket.destroy()
    }
  })
}

/** Returns why a node may not subscribe; undefined if it may. */
function mismatch(header: ReadonlyMap<string, string>, { type, md5sum }: Publication): string | undefined {
  const [theirType, theirMd5] = [header.get('type'), header.get('md5sum')]
  if (theirType !== type && theirType !== '*') return `its type is ${theirType}, not ${type}`
  if (theirMd5 !== md5sum && theirMd5 !== '*') return `its version of ${type} differs`
  return undefined
}

/** Ends a socket after its data is sent, at the latest after half a second. */
function flushed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS)
    socket.once('close', () => {
      clearTimeout(limit)
      resolve()
    })
    socket.end()
  })
}
