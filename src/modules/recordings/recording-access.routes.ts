import { z } from 'zod'
import { credentialOfLink } from '../../core/http/downloads.ts'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { objectErrors, objectResponses } from '../../core/http/send-object.ts'
import { fileErrors, type RecordingRouteDeps, sendRecording, sendSegment } from './recording.routes.ts'
import { RecordingParts, RecordingView } from './recording.schema.ts'
import {
  BookmarkParams,
  BookmarkView,
  CreateBookmark,
  CreatedShare,
  CreateShare,
  DownloadView,
  SegmentParams,
  ShareParams,
  ShareView,
  TokenParams,
} from './recording-access.schema.ts'

const MCAP = 'application/mcap'
/** How long an address of the storage works that a link leads to. It works on when the link is revoked. */
const REDIRECT_SECONDS = 60
const notFoundErrors = {
  404: { not_found: 'when the recording does not exist, or you have no part in its session' },
} as const
const ownerErrors = {
  404: { not_found: 'when the recording does not exist, or is not one of your robots' },
} as const
const shareErrors = {
  404: { share_invalid: 'when the link is unknown, has expired or was revoked' },
} as const

/** Returns the routes of downloads, links and bookmarks. */
export function recordingAccessEndpoints(deps: RecordingRouteDeps): Endpoint[] {
  return [
    ...downloadEndpoints(deps),
    ...shareEndpoints(deps),
    ...sharedEndpoints(deps),
    ...bookmarkEndpoints(deps),
  ]
}

const downloadEndpoints = ({ recordingAccess }: RecordingRouteDeps): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/api/recordings/{id}/downloads',
    list: true,
    summary: 'Lists who has read a recording, newest first',
    access: {},
    params: idParams('recording'),
    response: [200, z.object({ downloads: z.array(DownloadView) })],
    errors: notFoundErrors,
    run: async ({ caller, params }) => ({ downloads: await recordingAccess.downloads(caller, params.id) }),
  }),
]

function shareEndpoints({ recordingAccess }: RecordingRouteDeps): Endpoint[] {
  const params = idParams('recording')
  return [
    endpoint({
      method: 'post',
      path: '/api/recordings/{id}/shares',
      summary: 'Creates a link with which anyone can replay a recording until it expires',
      access: { scope: 'robots' },
      params,
      body: CreateShare,
      response: [201, CreatedShare],
      errors: {
        ...ownerErrors,
        409: { share_limit_reached: 'when the recording has 50 links that have not expired' },
      },
      run: async ({ caller, params: { id }, body }) =>
        await recordingAccess.share(caller, id, body.expires_in_hours),
    }),
    endpoint({
      method: 'get',
      path: '/api/recordings/{id}/shares',
      list: true,
      summary: 'Lists the links of a recording',
      access: {},
      params,
      response: [200, z.object({ shares: z.array(ShareView) })],
      errors: ownerErrors,
      run: async ({ caller, params: { id } }) => ({ shares: await recordingAccess.shares(caller, id) }),
    }),
    endpoint({
      method: 'delete',
      path: '/api/recordings/{id}/shares/{share}',
      summary: 'Revokes a link of a recording',
      access: { scope: 'robots' },
      params: ShareParams,
      response: [204],
      errors: ownerErrors,
      run: async ({ caller, params: { id, share } }) => await recordingAccess.revokeShare(caller, id, share),
    }),
  ]
}

/** Returns the routes of a link. The token in the path is their only credential. */
function sharedEndpoints(deps: RecordingRouteDeps): Endpoint[] {
  const { recordings, recordingAccess, downloads } = deps
  const noteOf = (shareId: string) => (id: string) =>
    recordingAccess.noteDownload(id, { userId: null, shareId }, 'replay')
  const path = '/api/shared/recordings/{token}'
  return [
    endpoint({
      method: 'get',
      path,
      summary: 'Shows the recording of a link',
      access: 'public',
      publicLimit: 'replay',
      params: TokenParams,
      response: [200, RecordingView],
      errors: shareErrors,
      run: async ({ params }) => {
        const { row } = await recordingAccess.byToken(params.token)
        const view = await recordings.viewOf(row)
        return { ...view, file_url: view.file_url && `/api/shared/recordings/${params.token}/file` }
      },
    }),
    endpoint({
      method: 'get',
      path: `${path}/parts`,
      summary: 'Lists what of the recording of a link can be read now',
      access: 'public',
      publicLimit: 'replay',
      params: TokenParams,
      response: [200, RecordingParts],
      errors: shareErrors,
      run: async ({ params }) => {
        const { row, shareId } = await recordingAccess.byToken(params.token)
        await noteOf(shareId)(row.id)
        return await recordings.parts(row, `/api/shared/recordings/${params.token}`)
      },
    }),
    endpoint({
      method: 'get',
      path: `${path}/file`,
      summary: 'Downloads the recording of a link as an MCAP file',
      access: 'public',
      publicLimit: 'replay',
      params: TokenParams,
      response: [200],
      media: [MCAP],
      otherResponses: objectResponses,
      errors: { ...fileErrors, 404: { ...fileErrors[404], ...shareErrors[404] } },
      run: async ({ params, http }) => {
        const link = await recordingAccess.byToken(params.token)
        await sendRecording(http, link.row, {
          ...deps,
          note: noteOf(link.shareId),
          admit: downloads.admit(credentialOfLink(http, link)),
          redirectSeconds: REDIRECT_SECONDS,
        })
      },
    }),
    endpoint({
      method: 'get',
      path: `${path}/segments/{stream}/{number}`,
      summary: 'Downloads a part of the recording of a link that is not finished',
      access: 'public',
      publicLimit: 'replay',
      params: TokenParams.extend({ ...SegmentParams.omit({ id: true }).shape }),
      response: [200],
      media: [MCAP],
      otherResponses: objectResponses,
      errors: { ...objectErrors, 404: { ...objectErrors[404], ...shareErrors[404] } },
      run: async ({ params, http }) => {
        const link = await recordingAccess.byToken(params.token)
        const admit = downloads.admit(credentialOfLink(http, link))
        await sendSegment(http, link.row, params, { ...deps, note: noteOf(link.shareId), admit })
      },
    }),
  ]
}

function bookmarkEndpoints({ recordingAccess }: RecordingRouteDeps): Endpoint[] {
  const params = idParams('recording')
  return [
    endpoint({
      method: 'get',
      path: '/api/recordings/{id}/bookmarks',
      list: true,
      summary: 'Lists the bookmarks of a recording, by their moments',
      access: {},
      params,
      response: [200, z.object({ bookmarks: z.array(BookmarkView) })],
      errors: notFoundErrors,
      run: async ({ caller, params: { id } }) => ({ bookmarks: await recordingAccess.bookmarks(caller, id) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/recordings/{id}/bookmarks',
      summary: 'Marks a moment of a recording',
      access: { scope: 'robots' },
      params,
      body: CreateBookmark,
      response: [201, BookmarkView],
      errors: {
        ...notFoundErrors,
        409: { bookmark_limit_reached: 'when the recording has 500 bookmarks' },
      },
      run: async ({ caller, params: { id }, body }) => await recordingAccess.addBookmark(caller, id, body),
    }),
    endpoint({
      method: 'delete',
      path: '/api/recordings/{id}/bookmarks/{bookmark}',
      summary: 'Deletes a bookmark: its author and the owner of the robot may',
      access: { scope: 'robots' },
      params: BookmarkParams,
      response: [204],
      errors: notFoundErrors,
      run: async ({ caller, params: { id, bookmark } }) =>
        await recordingAccess.removeBookmark(caller, id, bookmark),
    }),
  ]
}
