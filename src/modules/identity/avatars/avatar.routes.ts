import { z } from 'zod'
import { type Endpoint, endpoint, type Upload } from '../../../core/http/endpoint.ts'
import { readUpload } from '../../../core/http/upload.ts'
import type { Avatars } from './avatar.service.ts'
import { AVATAR_TYPES } from './avatar-encoding.ts'

const upload: Upload = { field: 'avatar', types: AVATAR_TYPES, maxBytes: 5 * 1024 * 1024 }

/** Returns the public URL of an avatar. */
export const avatarUrl = (baseUrl: string, name: string) => `${baseUrl}/media/avatars/${name}.webp`

const UploadedAvatar = z
  .object({
    avatar_url: z
      .url()
      .meta({ examples: ['https://hub.example.com/media/avatars/pV3kq0s8YtN1xR7mB2dLw5hZc9Ua4GfE.webp'] }),
  })
  .meta({ id: 'UploadedAvatar', description: 'The public URL of the new avatar.' })

/** Creates the endpoints to upload and to download avatars. */
export function avatarEndpoints(deps: { avatars: Avatars; baseUrl: string }): Endpoint[] {
  const { avatars, baseUrl } = deps
  return [
    endpoint({
      method: 'post',
      path: '/api/auth/avatar',
      summary: 'Uploads your avatar: PNG, JPEG or WebP, up to 5 MB and 40 megapixels',
      access: { sessionOnly: true },
      upload,
      response: [200, UploadedAvatar],
      errors: {
        400: {
          invalid_request: 'when there is not exactly one file in the field avatar, or the image is damaged',
        },
        408: {
          request_timeout:
            'when the upload is too slow: no data for 5 seconds, or less than 16 KiB per second',
        },
        413: { payload_too_large: 'when the file or the image is too large' },
        415: {
          unsupported_media_type:
            'when the body is not a multipart form, or the file not a PNG, JPEG or WebP image',
        },
        429: { too_many_concurrent_requests: 'when you upload too many images at the same time' },
        503: { overloaded: 'when users upload too many images at the same time' },
      },
      run: async ({ caller, http }) => {
        const name = await avatars.replace(caller.userId, () => readUpload(http.req, upload))
        return { avatar_url: avatarUrl(baseUrl, name) }
      },
    }),
    endpoint({
      method: 'get',
      path: '/media/avatars/{name}.webp',
      summary: 'Returns an avatar',
      access: 'public',
      params: z.strictObject({ name: z.string() }),
      response: [200],
      media: ['image/webp'],
      errors: { 404: { not_found: 'when the avatar does not exist, or was replaced' } },
      otherResponses: { 304: ['when the avatar matches the ETag in If-None-Match'] },
      run: async ({ params, http }) => {
        const image = await avatars.find(params.name)
        http.set({
          ETag: `"${params.name}"`,
          'Cache-Control': 'public, max-age=31536000, immutable', // each image has a new name
          'Content-Security-Policy': "default-src 'none'; sandbox",
          'Cross-Origin-Resource-Policy': 'cross-origin', // pages of other origins may show it
          'X-Content-Type-Options': 'nosniff',
        })
        if (http.fresh) http.status = 304
        else {
          http.type = 'image/webp'
          http.body = image
        }
      },
    }),
  ]
}
