import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { downloadFile } from '../download/download-file.ts'
import type { PartFile } from '../download/part-file.ts'
import { createTransferProgress } from '../download/transfer-progress.ts'
import { Failure } from '../failure.ts'
import { formatBytes } from '../views.ts'
import { findRecording } from './recording-lookup.ts'

/** The first and the last bytes of every MCAP file. */
const MAGIC = Buffer.from('\x89MCAP0\r\n', 'latin1')

type Recording = Schemas['Recording']

const unfinishedTexts: Partial<Record<Recording['status'], string>> = {
  RECORDING: 'Its session is still recorded. Download it when the session has ended.',
  FINISHING: 'The platform is still writing its file. Try again in a moment.',
  FAILED: 'The platform could not finish it, so it has no file.',
}

/** Downloads a recording as an MCAP file. */
export async function run(
  cli: Context,
  idOrPrefix: string,
  { output, force = false }: { readonly output: string; readonly force?: boolean },
): Promise<void> {
  const recording = await findRecording(cli, idOrPrefix)
  const { id, status, file_url, size_bytes } = recording
  if (file_url === null)
    throw new Failure('conflict', `The recording has no file. ${unfinishedTexts[status] ?? ''}`.trim())
  const target = await targetOf(output, recording)
  const progress = createTransferProgress(cli, size_bytes, { label: 'recording' })
  try {
    await downloadFile(cli, {
      url: file_url,
      target,
      sizeBytes: size_bytes,
      version: id,
      isIntact,
      overwrites: force,
      onProgress: progress.update,
    })
  } finally {
    progress.close()
  }
  if (cli.out.json) cli.out.document({ id, path: target, bytes: size_bytes })
  else cli.out.note(`Recording written to ${target}, ${formatBytes(size_bytes)}`)
}

/** Returns the path of the file. In a folder, it has the name that browsers give it. */
async function targetOf(output: string, { robot_name, started_at }: Recording): Promise<string> {
  const path = resolve(output)
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return path
  // Characters that file systems reject or that lead to another folder.
  const robot = robot_name.replaceAll(/[\p{Cc}\p{Cf}<>:"/\\|?*]/gu, '_').replace(/^[. ]+/, '_')
  return join(path, `${robot} ${started_at.slice(0, 19).replaceAll(':', '-')}.mcap`)
}

async function isIntact({ handle, bytes }: PartFile): Promise<boolean> {
  for (const position of [0, bytes - MAGIC.length]) {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(MAGIC.length),
      0,
      MAGIC.length,
      Math.max(0, position),
    )
    if (bytesRead !== MAGIC.length || !buffer.equals(MAGIC)) return false
  }
  return true
}
