import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { Guard } from '../../../core/process/guard.ts'
import { isAuthentic, readBindingRequest, withTieBreaker } from './binding-request.ts'
import type { MediaSettings } from './media-messages.ts'

/** Relayed paths of all peers. Each one needs a socket. Further ones are ignored until one ends. */
const MAX_PATHS = 1_000
/** Relayed paths of one peer: of TURN over TCP and over TLS, at each address of the client. Further ones are ignored until one ends. */
const MAX_PATHS_OF_PEER = 8
/** A path without packets from the peer for this time is closed. */
const IDLE_MS = 30_000
const EXPIRE_MS = 5_000
/**
 * Buffers of each socket, as large as those of the WebRTC library; the system may allow less. This thread cannot read while it forwards
 * the packets of a keyframe, of which the default buffer of Linux holds 92.
 */
const MAX_BUFFER_BYTES = 1024 * 1024
const buffers = { recvBufferSize: MAX_BUFFER_BYTES, sendBufferSize: MAX_BUFFER_BYTES }

/** A peer of this process, by its ICE credentials. */
interface AdmittedPeer {
  readonly ufrag: string
  readonly password: string
  readonly paths: Set<RelayedPath>
}

/** The packets of one address, at which a TURN server relays a peer. */
interface RelayedPath {
  readonly key: string
  readonly peer: AdmittedPeer
  /** Stands for the address at the port of all peers. */
  readonly socket: Socket
  receivedMs: number
  /** The packet with which the path began, until its socket is connected. */
  first: Buffer | undefined
}

/** Opens a UDP socket. @throws if the port is in use */
export async function openUdpSocket({
  bindAddress,
  port,
}: Pick<MediaSettings, 'bindAddress' | 'port'>): Promise<Socket> {
  const type = bindAddress?.includes(':') ? 'udp6' : 'udp4'
  const socket = createSocket({ type, reuseAddr: false, ...buffers })
  socket.bind({ port, ...(bindAddress && { address: bindAddress }), exclusive: true })
  await once(socket, 'listening')
  return socket
}

/**
 * A second UDP port, for browsers that are relayed over TCP or TLS. Chromium sends their binding requests with the tie-breaker 0, which
 * the WebRTC library takes for none and refuses (docs/decisions/2026-11-28-relayed-browsers.md). The door lets in authentic
 * requests of this kind only, gives each of their addresses a socket at the port of all peers, and copies packets both ways. It
 * answers nothing itself.
 */
export class RelayDoor {
  readonly port: number
  readonly #socket: Socket
  readonly #target: { readonly port: number; readonly address: string }
  readonly #guard: Guard
  readonly #peers = new Map<string, AdmittedPeer>()
  readonly #paths = new Map<string, RelayedPath>()
  readonly #timer: NodeJS.Timeout

  /** `target` is the port of all peers, `socket` is bound. */
  constructor(socket: Socket, target: { port: number; address: string }, guard: Guard) {
    this.port = socket.address().port
    this.#socket = socket
    this.#target = target
    this.#guard = guard
    guard.on(socket, 'message', 'media:relayed', (packet: Buffer, from: RemoteInfo) =>
      this.#receive(packet, from),
    )
    guard.on(socket, 'error', 'media:relay-error', (cause: Error) => guard.report('media:relay-error', cause))
    this.#timer = guard.every('media:relay-idle', EXPIRE_MS, () => this.expire())
  }

  /** The number of relayed paths. */
  get paths(): number {
    return this.#paths.size
  }

  /** Lets a peer in, by the credentials in its answer. Returns the function that closes its paths and lets it in no more. */
  admit(sdp: string): () => void {
    const ufrag = /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1]
    const password = /^a=ice-pwd:(\S+)/m.exec(sdp)?.[1]
    if (ufrag === undefined || password === undefined) return () => {}
    const peer: AdmittedPeer = { ufrag, password, paths: new Set() }
    this.#peers.set(ufrag, peer)
    return () => {
      if (this.#peers.get(ufrag) === peer) this.#peers.delete(ufrag)
      for (const path of peer.paths) this.#close(path)
    }
  }

  #receive(packet: Buffer, from: RemoteInfo): void {
    const key = `${from.address}:${from.port}`
    const known = this.#paths.get(key)
    const request = readBindingRequest(packet)
    if (!request?.isTieBreakerZero) {
      if (known) this.#forward(known, packet)
      return
    }
    // Also at a known address: what is signed again must have been authentic.
    const peer = this.#peers.get(request.ufrag)
    if (!peer || !isAuthentic(request, peer.password)) return
    const signed = withTieBreaker(request, peer.password)
    if (known?.peer === peer) return this.#forward(known, signed)
    if (known) this.#close(known) // the TURN server has given its port to another client
    if (this.#paths.size < MAX_PATHS && peer.paths.size < MAX_PATHS_OF_PEER)
      this.#open(peer, { key, first: signed }, from)
  }

  #open(peer: AdmittedPeer, { key, first }: { key: string; first: Buffer }, from: RemoteInfo): void {
    const socket = createSocket({ type: 'udp4', ...buffers })
    const path: RelayedPath = { key, peer, socket, receivedMs: performance.now(), first }
    this.#guard.on(socket, 'connect', 'media:relay-connect', () => {
      if (path.first) send(socket, path.first)
      path.first = undefined
    })
    this.#guard.on(socket, 'message', 'media:relay-answer', (packet: Buffer) =>
      send(this.#socket, packet, from),
    )
    // Refused: the port of all peers is closed while there are none.
    this.#guard.on(socket, 'error', 'media:relay-path', () => this.#close(path))
    this.#paths.set(key, path)
    peer.paths.add(path)
    socket.connect(this.#target.port, this.#target.address)
  }

  #forward(path: RelayedPath, packet: Buffer): void {
    path.receivedMs = performance.now()
    if (!path.first) send(path.socket, packet)
  }

  #close(path: RelayedPath): void {
    if (this.#paths.get(path.key) !== path) return
    this.#paths.delete(path.key)
    path.peer.paths.delete(path)
    path.first = undefined
    path.socket.close()
  }

  /** Closes the paths without packets from their peer. */
  expire(nowMs = performance.now()): void {
    for (const path of this.#paths.values()) if (nowMs - path.receivedMs > IDLE_MS) this.#close(path)
  }

  /** Closes the door and all paths. */
  close(): void {
    clearInterval(this.#timer)
    for (const path of this.#paths.values()) this.#close(path)
    this.#socket.close()
  }
}

/** Sends a packet, or drops it: while others wait, and if the network refuses it. */
function send(socket: Socket, packet: Buffer, to?: RemoteInfo): void {
  if (socket.getSendQueueCount() > 0) return
  if (to) socket.send(packet, to.port, to.address, dropped)
  else socket.send(packet, dropped)
}

/** Without a callback, the socket would report each packet that it could not send. */
const dropped = (): void => {}
