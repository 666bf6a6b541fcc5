import { randomUUID } from 'node:crypto'
import type { ViewerPermissions } from '../../core/events/media-topics.ts'
import type { CameraKey } from './forwarding/media-messages.ts'

/** Viewers of one camera. A stream of 2 Mbit/s to all of them needs about a third of a core. */
const MAX_VIEWERS_PER_CAMERA = 100
/** Viewers of one user at one camera: windows, and those that were left without a farewell. */
const MAX_VIEWERS_PER_USER = 8

/** A peer, and what its permission depends on. */
export interface RegisteredPeer {
  /** Its number in the forwarding process; undefined until it has an answer. Peers count from their offer on. */
  id: number | undefined
  readonly resourceId: string
  readonly robotId: string
  readonly camera: string
  /** Whose resource it is: the robot of a publisher or of an owner's viewer, or the session of a viewer. */
  readonly ownerId: string
  /** The token of a publisher. */
  readonly tokenVersion?: number
  /** The permission of a viewer. */
  readonly permissions?: ViewerPermissions
}

type RegisteredPublisher = RegisteredPeer & { readonly tokenVersion: number }
type RegisteredViewer = RegisteredPeer & { readonly permissions: ViewerPermissions }

const isPublisher = (peer: RegisteredPeer): peer is RegisteredPublisher => peer.tokenVersion !== undefined
const isViewer = (peer: RegisteredPeer): peer is RegisteredViewer => peer.permissions !== undefined

export const cameraKey = (robotId: string, camera: string): CameraKey => `${robotId}/${camera}`

/** The peers of one node by their resources. */
export class PeerRegistry {
  readonly #nodeId: string
  readonly #byResource = new Map<string, RegisteredPeer>()
  readonly #viewersByCamera = new Map<CameraKey, Set<RegisteredPeer>>()

  constructor(nodeId: string) {
    this.#nodeId = nodeId
  }

  /** Returns a resource id that names this node and cannot be guessed. */
  createResourceId(): string {
    return `${this.#nodeId}.${randomUUID()}`
  }

  add(peer: RegisteredPeer): void {
    this.#byResource.set(peer.resourceId, peer)
    if (!peer.permissions) return
    const key = cameraKey(peer.robotId, peer.camera)
    const viewers = this.#viewersByCamera.get(key) ?? new Set()
    this.#viewersByCamera.set(key, viewers.add(peer))
  }

  remove(peer: RegisteredPeer): void {
    this.#byResource.delete(peer.resourceId)
    const key = cameraKey(peer.robotId, peer.camera)
    const viewers = this.#viewersByCamera.get(key)
    viewers?.delete(peer)
    if (viewers?.size === 0) this.#viewersByCamera.delete(key)
  }

  /** Returns whether a peer has not been removed. */
  has({ resourceId }: RegisteredPeer): boolean {
    return this.#byResource.has(resourceId)
  }

  /** Returns the peer of a resource, if it belongs to this robot or session. */
  find(resourceId: string, ownerId: string): RegisteredPeer | undefined {
    const peer = this.#byResource.get(resourceId)
    return peer?.ownerId === ownerId ? peer : undefined
  }

  get publishers(): RegisteredPublisher[] {
    return [...this.#byResource.values()].filter(isPublisher)
  }

  /** Returns whether a peer publishes the camera of another one. */
  isPublished({ robotId, camera }: RegisteredPeer): boolean {
    return this.publishers.some((peer) => peer.robotId === robotId && peer.camera === camera)
  }

  get viewers(): RegisteredViewer[] {
    return [...this.#byResource.values()].filter(isViewer)
  }

  get size(): number {
    return this.#byResource.size
  }

  /** Returns whether a camera has as many viewers as it may have. */
  isFull(robotId: string, camera: string): boolean {
    return (this.#viewersByCamera.get(cameraKey(robotId, camera))?.size ?? 0) >= MAX_VIEWERS_PER_CAMERA
  }

  /** Returns the oldest viewer of a user at a camera if the user has as many as a user may have. */
  surplusOf(userId: string, robotId: string, camera: string): RegisteredPeer | undefined {
    const viewers = [...(this.#viewersByCamera.get(cameraKey(robotId, camera)) ?? [])]
    const own = viewers.filter(({ permissions }) => permissions?.userId === userId)
    return own.length >= MAX_VIEWERS_PER_USER ? own[0] : undefined
  }
}
