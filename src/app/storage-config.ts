import { join } from 'node:path'
import { z } from 'zod'
import type { StorageSettings } from '../core/storage/storage.ts'
import { flag, urlOf } from './config-values.ts'

const BYTES_PER_GB = 1_000_000_000

const serverAddress = urlOf(/^https?$/).transform((url) => url.replace(/\/+$/, ''))

/** The variables of the storage of recordings and exports. */
export const storageVariables = {
  /** The bucket of recordings and exports. By default a directory below DATA_DIR. */
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
    .optional(),
  S3_ENDPOINT: serverAddress.optional(),
  S3_REGION: z.string().default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  S3_PREFIX: z
    .string()
    .regex(
      /^(?!\.{1,2}(\/|$))[\w.-]{1,64}(\/(?!\.{1,2}(\/|$))[\w.-]{1,64}){0,3}\/?$/,
      'must be a path such as wheelhouse/production',
    )
    .transform((prefix) => prefix.replace(/\/?$/, '/'))
    .optional(),
  S3_PATH_STYLE: flag.optional(),
  /** The address at which clients download, or `off` if they do not reach the server. */
  S3_PUBLIC_ENDPOINT: z.union([z.literal('off'), serverAddress]).optional(),
  /** How much the recordings of one account may take. 0 means no limit. */
  RECORDING_QUOTA_GB: z
    .string()
    .regex(/^\d{1,6}$/, 'must be a whole number of gigabytes')
    .transform(Number)
    .default(50),
}

const Variables = z.object(storageVariables)
type Variables = z.infer<typeof Variables>

const DEPENDENT = [
  'S3_ENDPOINT',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
  'S3_PREFIX',
  'S3_PATH_STYLE',
  'S3_PUBLIC_ENDPOINT',
] as const

/** Returns the problems that concern several variables. */
export function storageProblems(env: Variables): string[] {
  const problems: string[] = []
  const given = DEPENDENT.filter((name) => env[name] !== undefined)
  if (!env.S3_BUCKET && given.length > 0) {
    problems.push(
      `S3_BUCKET is required with ${given.join(', ')}: without it, objects are files below DATA_DIR`,
    )
  }
  if (!env.S3_ACCESS_KEY_ID !== !env.S3_SECRET_ACCESS_KEY) {
    const missing = env.S3_ACCESS_KEY_ID ? 'S3_SECRET_ACCESS_KEY' : 'S3_ACCESS_KEY_ID'
    problems.push(`${missing} is required with the other key of S3: they are one pair`)
  }
  return problems
}

/** Returns the settings of the storage in files below a data directory. */
export const localStorageIn = (dataDir: string): StorageSettings => ({
  kind: 'local',
  directory: join(dataDir, 'objects'),
})

/** Returns the settings of the storage, and the quota of an account in bytes: 0 for no limit. */
export function storageSettings(
  env: Variables,
  dataDir: string,
): { storage: StorageSettings; recordingQuotaBytes: number } {
  const recordingQuotaBytes = env.RECORDING_QUOTA_GB * BYTES_PER_GB
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!bucket) return { storage: localStorageIn(dataDir), recordingQuotaBytes }
  return {
    storage: {
      kind: 's3',
      bucket,
      endpoint: env.S3_ENDPOINT,
      publicEndpoint: env.S3_PUBLIC_ENDPOINT === 'off' ? null : env.S3_PUBLIC_ENDPOINT,
      region: env.S3_REGION,
      credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
      prefix: env.S3_PREFIX ?? '',
      // Servers other than Amazon's seldom have a host name for each bucket.
      pathStyle: env.S3_PATH_STYLE ?? env.S3_ENDPOINT !== undefined,
    },
    recordingQuotaBytes,
  }
}
