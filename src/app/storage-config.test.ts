import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from './config.ts'

const keys = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' }
const storageOf = (env: Record<string, string>) => loadConfig(env).storage

test('without a bucket, objects are files below DATA_DIR, and an account may store 50 GB', () => {
  expect(loadConfig({ DATA_DIR: '/var/lib/wheelhouse' })).toMatchObject({
    storage: { kind: 'local', directory: join('/var/lib/wheelhouse', 'objects') },
    recordingQuotaBytes: 50_000_000_000,
  })
  expect(storageOf({ S3_REGION: 'eu-central-1', S3_BUCKET: '', S3_ENDPOINT: '' }).kind).toBe('local')
})

test('a bucket of Amazon needs its name only', () => {
  expect(storageOf({ S3_BUCKET: 'recordings.example' })).toEqual({
    kind: 's3',
    bucket: 'recordings.example',
    endpoint: undefined,
    publicEndpoint: undefined,
    region: 'us-east-1',
    credentials: undefined,
    prefix: '',
    pathStyle: false,
  })
})

test('every variable is read', () => {
  const env = {
    S3_BUCKET: 'recordings',
    S3_ENDPOINT: 'http://minio:9000/',
    S3_REGION: 'eu-central-1',
    ...keys,
    S3_PREFIX: 'wheelhouse/production',
    S3_PATH_STYLE: 'false',
    S3_PUBLIC_ENDPOINT: 'https://files.example/s3/',
    RECORDING_QUOTA_GB: '0',
  }
  expect(loadConfig(env)).toMatchObject({
    storage: {
      kind: 's3',
      bucket: 'recordings',
      endpoint: 'http://minio:9000',
      publicEndpoint: 'https://files.example/s3',
      region: 'eu-central-1',
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      prefix: 'wheelhouse/production/',
      pathStyle: false,
    },
    recordingQuotaBytes: 0,
  })
})

test('another server has the bucket in the path, and may be out of reach of clients', () => {
  expect(
    storageOf({ S3_BUCKET: 'recordings', S3_ENDPOINT: 'http://minio:9000', S3_PUBLIC_ENDPOINT: 'off' }),
  ).toMatchObject({ pathStyle: true, publicEndpoint: null })
})

describe('rejected with the name of the variable', () => {
  test.each([
    ['S3_BUCKET', 'Recordings'],
    ['S3_BUCKET', 'a/b'],
    ['S3_BUCKET', 'ab'],
    ['S3_ENDPOINT', 'minio:9000'],
    ['S3_ENDPOINT', 'ftp://minio'],
    ['S3_PUBLIC_ENDPOINT', 'none'],
    ['S3_PREFIX', '/a'],
    ['S3_PREFIX', 'a//b'],
    ['S3_PREFIX', '../a'],
    ['S3_PREFIX', 'a/..'],
    ['S3_PREFIX', 'a b'],
    ['S3_PATH_STYLE', 'yes'],
    ['RECORDING_QUOTA_GB', '-1'],
    ['RECORDING_QUOTA_GB', '1.5'],
    ['RECORDING_QUOTA_GB', 'none'],
  ])('%s=%s', (name, value) => {
    expect(() => loadConfig({ S3_BUCKET: 'recordings', [name]: value })).toThrow(name)
  })

  test.each(['S3_ENDPOINT', 'S3_PUBLIC_ENDPOINT', 'S3_PREFIX', 'S3_PATH_STYLE'])(
    '%s without a bucket',
    (name) => {
      const value = { S3_PREFIX: 'a', S3_PATH_STYLE: 'true' }[name] ?? 'http://minio:9000'
      expect(() => loadConfig({ [name]: value })).toThrow(`S3_BUCKET is required with ${name}`)
    },
  )

  test.each(Object.keys(keys))('one of two keys: not %s', (name) => {
    const env = { S3_BUCKET: 'recordings', ...keys, [name]: '' }
    expect(() => loadConfig(env)).toThrow(`${name} is required`)
  })

  test('the keys without a bucket, and no key is part of the message', () => {
    const message = (() => {
      try {
        loadConfig({ S3_ACCESS_KEY_ID: 'id-4711', S3_SECRET_ACCESS_KEY: 'secret-4711' })
        return ''
      } catch (error) {
        return String(error)
      }
    })()
    expect(message).toContain('S3_BUCKET is required with S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY')
    expect(message).not.toContain('4711')
  })
})
