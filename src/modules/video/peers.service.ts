import {
  AppError,
  conflict,
  forbidden,
  notFound,
  unauthorized,
  unavailable,
} from '../../core/errors/errors.ts'
import type { MediaReply, MediaRequest, ViewerPermissions } from '../../core/events/media-topics.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import { type EndingCredential, endingCredentialOf } from '../../core/permissions/authorization.ts'
import type { CameraStore } from './camera.store.ts'
import type { MediaRequests } from './media-requests.ts'

/** The answer to an offer. */
export interface CreatedPeer {
  readonly resourceId: string
  readonly sdp: string
  /** The robot or the user, for credentials of TURN servers. */
  readonly clientId: string
}

/** Reads robot tokens; returns undefined for one that is not valid. */
export interface RobotTokenReader {
  read(token: string): { readonly robotId: string; readonly tokenVersion: number } | undefined
}

/** A ticket of a session. */
interface ViewerTicket {
  readonly sessionId: string
  readonly userId: string
  readonly part: 'control' | 'watch'
  readonly apiKeyId?: string
  readonly signInId?: string
  readonly permissionsVersion: number
  readonly number: number
}

const credentialIdOf = ({ apiKeyId, signInId }: EndingCredential): string | null =>
  apiKeyId ?? signInId ?? null

/** Reads tickets; returns undefined for one that is not valid. */
export interface TicketReader {
  read(text: string): ViewerTicket | undefined
}

/** Returns whether a ticket still admits its holder. */
export interface TicketVerdicts {
  verdictOf(ticket: ViewerTicket): Promise<string>
}

type Refusal = Extract<MediaReply, { refused: unknown }>['refused']

/** Connects publishers and viewers of cameras to media roles, and authorizes them. */
export function createPeers(deps: {
  store: CameraStore
  requests: MediaRequests
  robotTokens: RobotTokenReader
  tickets: TicketReader
  ticketStore: TicketVerdicts
}) {
  const { store, requests, robotTokens, tickets, ticketStore } = deps

  /** @throws 401 without the valid token of the robot, 403 with that of another one. */
  async function authorizeRobot(token: string | undefined, robotId: string) {
    const identity = token === undefined ? undefined : robotTokens.read(token)
    if (!identity)
      throw unauthorized('robot_token_invalid', 'Send the robot token: Authorization: Bearer <token>')
    if (identity.robotId !== robotId)
      throw forbidden(
        'robot_token_mismatch',
        'The token belongs to another robot. Use the token of this one.',
      )
    if ((await store.endedPublishers([identity])).length > 0)
      throw unauthorized('robot_token_invalid', 'The robot token was replaced. Use the new one.')
    return identity
  }

  /** @throws 401 without a valid ticket, 403 with one of another session. */
  async function authorizeViewer(text: string | undefined, sessionId: string) {
    const ticket = text === undefined ? undefined : tickets.read(text)
    if (!ticket)
      throw unauthorized(
        'ticket_invalid',
        'Send a ticket of the session: Authorization: Bearer <ticket>. POST /api/sessions/{id}/ticket creates one.',
      )
    if (ticket.sessionId !== sessionId)
      throw forbidden(
        'ticket_mismatch',
        'The ticket belongs to another session. Request one for this session.',
      )
    if ((await ticketStore.verdictOf(ticket)) !== 'valid')
      throw unauthorized('ticket_revoked', 'The ticket is no longer valid. Request a new one.')
    return ticket
  }

  /** Sends an offer to a media role and returns its answer. */
  async function connect(
    nodeId: string | undefined,
    request: MediaRequest,
    clientId: string,
  ): Promise<CreatedPeer> {
    if (nodeId === undefined)
      throw noMedia('No media server is running. Start a process with the role media.')
    const reply = await requests.send(nodeId, request)
    if (!reply || 'found' in reply) throw noMedia('The media server did not answer. Try again.')
    if ('refused' in reply) throw refusal(reply.refused)
    return { resourceId: reply.resourceId, sdp: reply.sdp, clientId }
  }

  async function view(
    camera: string,
    robotId: string,
    sdp: string,
    isOperator: boolean,
    permissions: ViewerPermissions,
  ) {
    const nodeId = await store.nodeOf(robotId, camera)
    if (nodeId === undefined)
      throw conflict('camera_offline', 'The camera is not sending. Try again when the robot publishes it.')
    return await connect(
      nodeId,
      { type: 'view', robotId, camera, sdp, isOperator, permissions },
      permissions.userId,
    )
  }

  /** @throws 404 unless the resource exists and belongs to the robot or the session. */
  async function ask(type: 'close' | 'find', resourceId: string, ownerId: string) {
    const nodeId = resourceId.split('.')[0] as string
    // The peers of a media role end with it.
    const reply = (await store.isNodeAlive(nodeId))
      ? await requests.send(nodeId, { type, resourceId, ownerId })
      : undefined
    if (!reply || !('found' in reply) || !reply.found) throw notFound('Resource')
    return { isLast: reply.isLast === true }
  }

  return {
    /** Publishes a camera of a robot. The newest publisher of a camera replaces the one before. */
    async publish(
      token: string | undefined,
      robotId: string,
      camera: string,
      sdp: string,
    ): Promise<CreatedPeer> {
      const { tokenVersion } = await authorizeRobot(token, robotId)
      if (!(await store.addCamera(robotId, camera)))
        throw conflict('camera_limit_reached', 'The robot has 8 cameras. Remove one in its settings first.')
      const nodeId = (await store.nodeOf(robotId, camera)) ?? (await store.leastBusyNode())
      try {
        const peer = await connect(nodeId, { type: 'publish', robotId, camera, sdp, tokenVersion }, robotId)
        // An earlier offer of the camera may have been refused at the same time.
        await store.addCamera(robotId, camera)
        return peer
      } catch (cause) {
        const isReplaced = cause instanceof AppError && cause.code === 'offer_replaced'
        if (!isReplaced) await store.removeUnused(robotId, camera)
        throw cause
      }
    },

    /** Shows a camera to the holder of a ticket of an open session. */
    async watchSession(
      text: string | undefined,
      sessionId: string,
      camera: string,
      sdp: string,
    ): Promise<CreatedPeer> {
      const ticket = await authorizeViewer(text, sessionId)
      const { userId, permissionsVersion, part } = ticket
      const robotId = await store.robotOfOpenSession(sessionId)
      if (robotId === undefined)
        throw conflict('session_not_open', 'The session is not open. Its cameras can be watched while it is.')
      const permissions = { userId, permissionsVersion, credentialId: credentialIdOf(ticket), sessionId }
      return await view(camera, robotId, sdp, part === 'control', permissions)
    },

    /** Shows a camera of a robot to its owner. The caller must have checked the ownership. */
    async watchRobot(caller: Caller, robotId: string, camera: string, sdp: string): Promise<CreatedPeer> {
      const { userId, permissionsVersion, credential } = caller
      return await view(camera, robotId, sdp, false, {
        userId,
        permissionsVersion,
        credentialId: credentialIdOf(endingCredentialOf(credential)),
        sessionId: null,
      })
    },

    /** Ends the publisher of a robot. */
    async unpublish(
      token: string | undefined,
      { robotId, camera, resourceId }: { robotId: string; camera: string; resourceId: string },
    ): Promise<void> {
      await authorizeRobot(token, robotId)
      const { isLast } = await ask('close', resourceId, robotId)
      if (isLast) await store.removeUnused(robotId, camera)
    },

    /** Ends a viewer. Its address cannot be guessed, so that a viewer with an expired ticket can leave. */
    endViewer: async (resourceId: string, ownerId: string): Promise<void> => {
      await ask('close', resourceId, ownerId)
    },

    /**
     * Accepts candidates of a peer (trickle ICE). They are not needed: the platform sends only to addresses that packets came from.
     * @throws 428 without If-Match, 422 for a restart of ICE, 412 for another resource.
     */
    async acceptCandidates(resourceId: string, ownerId: string, ifMatch: string): Promise<void> {
      if (ifMatch === '')
        throw new AppError(428, 'etag_required', 'Send If-Match with the ETag of the resource.')
      if (ifMatch === '*')
        throw new AppError(422, 'ice_restart_unsupported', 'ICE cannot be restarted. Send a new offer.')
      if (ifMatch !== etagOf(resourceId))
        throw new AppError(
          412,
          'etag_mismatch',
          'If-Match names another resource. Send the ETag of this one.',
        )
      await ask('find', resourceId, ownerId)
    },
  }
}
export type Peers = ReturnType<typeof createPeers>

/** Returns the version of a resource. ICE is never restarted, so it does not change. */
export const etagOf = (resourceId: string): string => `"${resourceId}"`

const noMedia = (why: string) => unavailable('no_media_server', why)

const refusal = ({ status, code, message }: Refusal) => new AppError(status, code, message)
