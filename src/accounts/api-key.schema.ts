import { z } from 'zod'
import { line, timestamp } from '../http/fields.ts'

/** Body of POST /api/auth/api-keys. */
export const CreateApiKey = z.strictObject({
  name: line(100).meta({ examples: ['ci'] }),
  expires_at: z.iso
    .datetime({ offset: true })
    .meta({ examples: ['2099-01-01T00:00:00Z'] })
    .transform((text) => new Date(text))
    .refine((at) => at.getTime() > Date.now(), 'must lie in the future')
    .refine((at) => at.getUTCFullYear() <= 9999, 'lies too far in the future')
    .nullish(),
})
export type CreateApiKey = z.infer<typeof CreateApiKey>

/** A key as it is listed. The key itself is not kept, so it cannot be shown again. */
export const ApiKeyView = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ examples: ['ci'] }),
    prefix: z.string().meta({ examples: ['svc_live_4f9d'] }),
    last4: z.string().meta({ examples: ['x7Qa'] }),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
    expires_at: timestamp.nullable(),
    revoked_at: timestamp.nullable().meta({ examples: [null] }),
  })
  .meta({ id: 'ApiKey' })
export type ApiKeyView = z.infer<typeof ApiKeyView>

/** Answer to a creation: the only time the key is shown. */
export const CreatedApiKey = ApiKeyView.extend({
  key: z.string().meta({ examples: ['svc_live_4f9d…x7Qa'] }),
}).meta({ id: 'CreatedApiKey' })
