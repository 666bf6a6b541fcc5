import type { ErrorCode } from '@wheelhouse/protocol'

// Requests of an api to a media role over the bus, and their replies. A lost one is a timeout of the request.

/** Why a viewer may watch. The media role ends the viewer when any of it changes. */
export interface ViewerPermissions {
  readonly userId: string
  readonly permissionsVersion: number
  /** The API key behind the request, or the sign-in with the provider of an organization, if any. */
  readonly credentialId: string | null
  /** The open session; null for the owner of the robot. */
  readonly sessionId: string | null
}

/** A request of an api to the media role that has, or gets, a camera. */
export type MediaRequest =
  | {
      readonly type: 'publish'
      readonly robotId: string
      readonly camera: string
      readonly sdp: string
      readonly tokenVersion: number
    }
  | {
      readonly type: 'view'
      readonly robotId: string
      readonly camera: string
      readonly sdp: string
      readonly isOperator: boolean
      readonly permissions: ViewerPermissions
    }
  /** Closes a peer. The owner is the robot or the session that it was created for. */
  | { readonly type: 'close'; readonly resourceId: string; readonly ownerId: string }
  /** Asks whether a peer exists. */
  | { readonly type: 'find'; readonly resourceId: string; readonly ownerId: string }

export type MediaReply =
  | { readonly resourceId: string; readonly sdp: string }
  /** `isLast`: no other peer publishes the camera. */
  | { readonly found: boolean; readonly isLast?: boolean }
  | { readonly refused: { readonly status: number; readonly code: ErrorCode; readonly message: string } }

export interface MediaRequestMessage {
  /** The media role that the request is for. */
  readonly nodeId: string
  /** The process that waits for the reply. */
  readonly replyTo: string
  readonly requestId: string
  readonly request: MediaRequest
}

export interface MediaReplyMessage {
  readonly replyTo: string
  readonly requestId: string
  readonly reply: MediaReply
}
