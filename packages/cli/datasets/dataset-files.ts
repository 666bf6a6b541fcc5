import { z } from 'zod'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'

/** The list of files, as on the Hugging Face Hub. */
const Tree = z.array(
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('directory') }),
    z.object({
      type: z.literal('file'),
      path: z.string(),
      size: z.number().int().min(0),
      oid: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ]),
)

/** A file of an exported dataset. */
export interface DatasetFile {
  readonly path: string
  readonly url: string
  readonly sizeBytes: number
  readonly sha256: string
}

/**
 * Lists the files of one version of an exported dataset.
 * @param baseUrl path of the files of the newest version @throws Failure when the platform names files that cannot be written safely
 */
export async function datasetFiles(
  { fetchFile, server }: Pick<Context, 'fetchFile' | 'server'>,
  baseUrl: string,
  version: number,
): Promise<DatasetFile[]> {
  const base = baseUrl.replace(/\/resolve\/main$/, `/resolve/v${version}`)
  const response = await fetchFile(`/api${base.replace('/resolve/', '/tree/')}?recursive=true`)
  const tree = Tree.safeParse(await response.json().catch(() => undefined))
  if (!tree.success)
    throw new Failure('refused', `${server} answers with a list of files that this version cannot read.`)
  return tree.data.flatMap((entry) => {
    if (entry.type !== 'file') return []
    const { path, size: sizeBytes, oid: sha256 } = entry
    if (!isPlainPath(path))
      throw new Failure(
        'refused',
        `${server} names a file that cannot be written safely: ${JSON.stringify(path)}`,
      )
    return [{ path, url: `${base}/${path.split('/').map(encodeURIComponent).join('/')}`, sizeBytes, sha256 }]
  })
}

/** Returns whether a path stays below its folder on every file system. */
const isPlainPath = (path: string) =>
  path.split('/').every((name) => name !== '' && !/[\p{Cc}\\:]/u.test(name) && !/^\.{1,2}$/.test(name))
