import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import { AppError, badRequest, notAllowed, notFound } from '../../../core/errors/errors.ts'
import { type AdmitDownload, credentialOfCaller, type Downloads } from '../../../core/http/downloads.ts'
import type { Authenticate, Caller } from '../../../core/http/endpoint.ts'
import { FORM_TYPE, readBody } from '../../../core/http/json-body.ts'
import { sendObject } from '../../../core/http/send-object.ts'
import type { ObjectStore } from '../../../core/storage/object-store.ts'
import { type HubDataset, type HubFiles, versionOf } from './hub-files.ts'
import { datasetJson, refsJson, treeJson } from './hub-json.ts'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  md: 'text/markdown; charset=utf-8',
  mp4: 'video/mp4',
  parquet: 'application/vnd.apache.parquet',
}

type Route = 'resolve' | 'tree' | 'paths-info' | 'refs' | 'info'
interface HubRequest {
  readonly route: Route
  readonly owner: string
  readonly name: string
  readonly revision: string
  readonly path: string
}

const FILE_PATH = /^\/datasets\/([^/]+)\/([^/]+)\/resolve\/([^/]+)\/(.+)$/
const API_PATH =
  /^\/api\/datasets\/([^/]+)\/([^/]+)(?:\/(revision|tree|paths-info|refs)(?:\/([^/]+)(?:\/(.+))?)?)?$/

/** Returns a decoded part of the path; an empty text if it has a character that no name has. */
function decoded(text = ''): string {
  const value = decodeURIComponent(text)
  return /[\\\0]/.test(value) ? '' : value
}

/** Reads the path of a request; undefined for a path that is not one of the Hub's. */
function parse(path: string): HubRequest | undefined {
  const file = FILE_PATH.exec(path)
  if (file) {
    const [, owner, name, revision, filePath] = file.map(decoded)
    return {
      route: 'resolve',
      owner: owner ?? '',
      name: name ?? '',
      revision: revision ?? '',
      path: filePath ?? '',
    }
  }
  const api = API_PATH.exec(path)
  if (!api) return undefined
  const [, owner = '', name = '', kind = '', revision = '', folder = ''] = api.map(decoded)
  const isVersioned = kind === 'revision' || kind === 'tree' || kind === 'paths-info'
  if (isVersioned !== (revision !== '') || (kind !== 'tree' && folder !== '')) return undefined
  const route = kind === 'tree' || kind === 'paths-info' || kind === 'refs' ? kind : 'info'
  return { route, owner, name, revision: revision || 'main', path: folder }
}

/** Creates an error with the code by which `huggingface_hub` distinguishes it. */
const missing = (what: string, code: string): AppError => {
  const error = notFound(what)
  return new AppError(error.status, error.code, error.message, { headers: { 'X-Error-Code': code } })
}

/**
 * Serves finished datasets under the paths of the Hugging Face Hub, so that its clients and LeRobot work with this platform as
 * `HF_ENDPOINT`. Their token is an API key of the owner.
 */
export function hubPages(deps: {
  readonly hubFiles: HubFiles
  readonly storage: ObjectStore
  readonly downloads: Downloads
  readonly authenticate: Authenticate
  readonly report: (cause: unknown) => void
}): Middleware {
  const { hubFiles, authenticate } = deps
  return async (http, next) => {
    const request = parse(http.path)
    if (!request) return await next()
    const methods = request.route === 'paths-info' ? ['POST'] : ['GET', 'HEAD']
    if (!methods.includes(http.method)) throw notAllowed(http.method, methods)
    const caller = (await authenticate(http, {})) as Caller
    const versions = await hubFiles.versions(caller, request.owner, request.name)
    if (versions.length === 0) throw missing('Dataset', 'RepoNotFound')
    if (request.route === 'refs') {
      http.body = refsJson(versions)
      return
    }
    const dataset = versionOf(versions, request.revision)
    if (!dataset) throw missing('Revision', 'RevisionNotFound')
    if (request.route === 'paths-info') {
      const paths = new Set(await readPaths(http))
      http.body = treeJson(await hubFiles.files(dataset.id), '', true).filter(({ path }) => paths.has(path))
    } else if (request.route === 'resolve')
      await sendFile(http, dataset, request.path, {
        ...deps,
        admit: deps.downloads.admit(credentialOfCaller(caller)),
      })
    else http.body = await describe(request, dataset, hubFiles, http.query.recursive)
  }
}

const MAX_PATHS = 1_000
const PathsInfo = z.object({ paths: z.union([z.string().transform((path) => [path]), z.array(z.string())]) })
/** Reads the paths that a client asks for: a form of `huggingface_hub`, or JSON. @throws 400, 413 */
async function readPaths(http: Context): Promise<string[]> {
  await readBody(http, async () => {})
  const { body } = http.request
  const asked = http.request.is(FORM_TYPE)
    ? { paths: new URLSearchParams(String(body)).getAll('paths') }
    : body
  const { data } = PathsInfo.safeParse(asked)
  if (!data || data.paths.length > MAX_PATHS)
    throw badRequest(`Send up to ${MAX_PATHS} "paths", as JSON or as a form.`)
  return data.paths
}

async function describe(
  { route, path }: HubRequest,
  dataset: HubDataset,
  hubFiles: HubFiles,
  recursive: unknown,
) {
  const files = await hubFiles.files(dataset.id)
  if (route === 'info') return datasetJson(dataset, files)
  const tree = treeJson(files, path, /^(1|true)$/i.test(String(recursive)))
  if (path !== '' && tree.length === 0) throw missing('Folder', 'EntryNotFound')
  return tree
}

async function sendFile(
  http: Context,
  { id, commit }: HubDataset,
  path: string,
  { hubFiles, storage, report, admit }: Parameters<typeof hubPages>[0] & { readonly admit: AdmitDownload },
): Promise<void> {
  const file = await hubFiles.file(id, path)
  if (!file) throw missing('File', 'EntryNotFound')
  const { object_key: key, sha256, size_bytes: sizeBytes } = file
  const extension = path.slice(path.lastIndexOf('.') + 1)
  await sendObject(http, storage, key, {
    contentType: CONTENT_TYPES[extension] ?? 'application/octet-stream',
    fileName: path.slice(path.lastIndexOf('/') + 1),
    inline: true,
    etag: `"${sha256}"`,
    headers: {
      'X-Repo-Commit': commit,
      'X-Linked-ETag': `"${sha256}"`,
      'X-Linked-Size': String(sizeBytes),
    },
    admit,
    onReadError: report,
  })
}
