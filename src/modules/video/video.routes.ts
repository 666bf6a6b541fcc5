import type { Context } from 'koa'
import {
  type Caller,
  type Endpoint,
  type ErrorResponses,
  endpoint,
  idParams,
} from '../../core/http/endpoint.ts'
import { scopeOf } from '../../core/permissions/authorization.ts'
import {
  CameraList,
  RobotCameraParams,
  RobotResourceParams,
  SessionCameraParams,
  SessionResourceParams,
  UpdateCamera,
} from './camera.schema.ts'
import type { CameraService, SeenSession } from './camera.service.ts'
import { iceServerLink, iceServersFor, type TurnSettings } from './ice-servers.ts'
import { type CreatedPeer, etagOf, type Peers } from './peers.service.ts'

interface VideoDeps {
  readonly cameras: CameraService
  readonly peers: Peers
  /** Returns a session that the caller may see. */
  readonly queries: { watched(caller: Caller, sessionId: string): Promise<SeenSession> }
  readonly turn: TurnSettings | undefined
  readonly now: () => Date
}

const SDP = 'application/sdp'
const SDP_FRAGMENT = 'application/trickle-ice-sdpfrag'

const offerErrors: ErrorResponses = {
  400: { offer_rejected: 'when the offer is malformed, or has no codec that the platform forwards' },
  503: { no_media_server: 'when no media server answers' },
}
const viewErrors = {
  camera_offline: 'when the robot does not publish the camera',
  camera_undecodable: 'when the H.264 of the camera has no parameter sets',
  viewer_limit_reached: 'when the camera has as many viewers as it may have',
} as const
const robotTokenErrors: ErrorResponses = {
  401: { robot_token_invalid: 'when the token is missing, invalid or replaced' },
  403: { robot_token_mismatch: 'when the token belongs to another robot' },
}
const ticketErrors: ErrorResponses = {
  401: {
    ticket_invalid: 'when the ticket is missing, invalid or expired',
    ticket_revoked: 'when the permissions behind the ticket have changed',
  },
  403: { ticket_mismatch: 'when the ticket belongs to another session' },
}
const fragmentErrors: ErrorResponses = {
  412: { etag_mismatch: 'when If-Match does not name the resource' },
  422: { ice_restart_unsupported: 'when the fragment restarts ICE' },
  428: { etag_required: 'when If-Match is missing' },
}

/** Returns the Bearer credential of a request; undefined without one. */
const bearerOf = (http: Context): string | undefined =>
  /^Bearer +(\S+)$/i.exec(http.get('Authorization'))?.[1]

/** Responds with the answer to an offer (RFC 9725, section 4.2). */
function sendAnswer(http: Context, peer: CreatedPeer, { turn, now }: Pick<VideoDeps, 'turn' | 'now'>): void {
  http.set('Location', `${http.path}/${peer.resourceId}`)
  http.set('ETag', etagOf(peer.resourceId))
  const servers = iceServersFor(turn, peer.clientId, now())
  if (servers.length > 0) http.set('Link', servers.map(iceServerLink))
  http.type = SDP
  http.body = peer.sdp
}

/** Returns the endpoints with which robots publish cameras (WHIP, RFC 9725). */
function whipEndpoints(deps: VideoDeps): Endpoint[] {
  const { peers } = deps
  const path = '/api/robots/{id}/whip/{camera}'
  return [
    endpoint({
      method: 'post',
      path,
      summary:
        'Publishes a camera of a robot over WebRTC (WHIP), with the robot token as the Bearer credential',
      access: 'public',
      publicLimit: 'video',
      params: RobotCameraParams,
      textBody: SDP,
      response: [201],
      media: [SDP],
      headers: ['Location', 'ETag', 'Link'],
      errors: {
        ...offerErrors,
        ...robotTokenErrors,
        409: {
          camera_limit_reached: 'when the robot has as many cameras as it may have',
          offer_replaced: 'when a newer offer of the same camera has come',
        },
      },
      run: async ({ params, text, http }) => {
        sendAnswer(http, await peers.publish(bearerOf(http), params.id, params.camera, text), deps)
      },
    }),
    endpoint({
      method: 'patch',
      path: `${path}/{resource}`,
      summary: 'Adds ICE candidates of a publisher',
      access: 'public',
      publicLimit: 'video',
      params: RobotResourceParams,
      textBody: SDP_FRAGMENT,
      response: [204],
      errors: fragmentErrors,
      run: async ({ params, http }) =>
        await peers.acceptCandidates(params.resource, params.id, http.get('If-Match')),
    }),
    endpoint({
      method: 'delete',
      path: `${path}/{resource}`,
      summary: 'Stops publishing a camera',
      access: 'public',
      publicLimit: 'video',
      params: RobotResourceParams,
      response: [200],
      errors: robotTokenErrors,
      run: async ({ params, http }) => {
        const { id: robotId, camera, resource: resourceId } = params
        await peers.unpublish(bearerOf(http), { robotId, camera, resourceId })
        http.body = null
        http.status = 200
      },
    }),
  ]
}

/** Returns the endpoints with which participants of a session watch its cameras (WHEP). */
function sessionWhepEndpoints(deps: VideoDeps): Endpoint[] {
  const { peers, cameras, queries } = deps
  const path = '/api/sessions/{id}/whep/{camera}'
  return [
    endpoint({
      method: 'get',
      path: '/api/sessions/{id}/cameras',
      summary: "Lists the cameras of a session's robot",
      access: {},
      params: idParams('session'),
      response: [200, CameraList],
      run: async ({ caller, params, http }) => {
        http.set('Cache-Control', 'no-store')
        return await cameras.listForSession(await queries.watched(caller, params.id), caller)
      },
    }),
    endpoint({
      method: 'post',
      path,
      summary: 'Watches a camera in a session over WebRTC (WHEP), with a ticket as the Bearer credential',
      access: 'public',
      publicLimit: 'video',
      params: SessionCameraParams,
      textBody: SDP,
      response: [201],
      media: [SDP],
      headers: ['Location', 'ETag', 'Link'],
      errors: {
        ...offerErrors,
        ...ticketErrors,
        409: { ...viewErrors, session_not_open: 'when the session is not ACTIVE or PAUSED' },
      },
      run: async ({ params, text, http }) => {
        sendAnswer(http, await peers.watchSession(bearerOf(http), params.id, params.camera, text), deps)
      },
    }),
    ...viewerEndpoints(deps, path, 'public', SessionResourceParams),
  ]
}

/** Returns the endpoints with which owners list, change and watch the cameras of their robots. */
function ownerEndpoints(deps: VideoDeps): Endpoint[] {
  const { peers, cameras } = deps
  const path = '/api/client/robots/{id}/whep/{camera}'
  const watching = { role: 'client', action: 'sessions.watch' } as const
  const writing = { role: 'client', action: 'robots.write' } as const
  return [
    endpoint({
      method: 'get',
      path: '/api/client/robots/{id}/cameras',
      summary: 'Lists the cameras of one of your robots',
      access: watching,
      params: idParams('robot'),
      response: [200, CameraList],
      run: async ({ caller, params, http }) => {
        http.set('Cache-Control', 'no-store')
        return await cameras.listForOwner(scopeOf(caller), params.id)
      },
    }),
    endpoint({
      method: 'patch',
      path: '/api/client/robots/{id}/cameras/{camera}',
      summary: 'Changes the label or the place of a camera',
      access: writing,
      params: RobotCameraParams,
      body: UpdateCamera,
      response: [200, CameraList],
      run: async ({ caller, params, body }) =>
        await cameras.update(scopeOf(caller), params.id, params.camera, body),
    }),
    endpoint({
      method: 'delete',
      path: '/api/client/robots/{id}/cameras/{camera}',
      summary: 'Removes a camera that is not sending',
      access: writing,
      params: RobotCameraParams,
      response: [204],
      errors: { 409: { camera_live: 'when the camera is sending' } },
      run: async ({ caller, params }) => await cameras.remove(scopeOf(caller), params.id, params.camera),
    }),
    endpoint({
      method: 'post',
      path,
      summary: 'Watches a camera of one of your robots over WebRTC (WHEP)',
      access: watching,
      params: RobotCameraParams,
      textBody: SDP,
      response: [201],
      media: [SDP],
      headers: ['Location', 'ETag', 'Link'],
      errors: { ...offerErrors, 409: viewErrors },
      run: async ({ caller, params, text, http }) => {
        await cameras.requireOwner(scopeOf(caller), params.id)
        sendAnswer(http, await peers.watchRobot(caller, params.id, params.camera, text), deps)
      },
    }),
    ...viewerEndpoints(deps, path, watching, RobotResourceParams),
  ]
}

/** Returns the endpoints of a viewer's resource. The resource belongs to the robot or session of the path. */
function viewerEndpoints(
  { peers }: VideoDeps,
  path: string,
  access: 'public' | { role: 'client'; action: 'sessions.watch' },
  params: typeof RobotResourceParams | typeof SessionResourceParams,
): Endpoint[] {
  return [
    endpoint({
      method: 'patch',
      path: `${path}/{resource}`,
      summary: 'Adds ICE candidates of a viewer',
      access,
      publicLimit: 'video',
      params,
      textBody: SDP_FRAGMENT,
      response: [204],
      errors: fragmentErrors,
      run: async ({ params: { resource, id }, http }) =>
        await peers.acceptCandidates(resource, id, http.get('If-Match')),
    }),
    endpoint({
      method: 'delete',
      path: `${path}/{resource}`,
      summary: 'Stops watching a camera',
      access,
      publicLimit: 'video',
      params,
      response: [200],
      run: async ({ params: { resource, id }, http }) => {
        await peers.endViewer(resource, id)
        http.body = null
        http.status = 200
      },
    }),
  ]
}

/** Returns the routes of cameras and their video. */
export const videoEndpoints = (deps: VideoDeps): Endpoint[] => [
  ...whipEndpoints(deps),
  ...sessionWhepEndpoints(deps),
  ...ownerEndpoints(deps),
]
