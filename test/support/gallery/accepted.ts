import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const FOLDER = fileURLToPath(new URL('../../full/browser/gallery', import.meta.url))
const VERSION_FILE = join(FOLDER, 'version.json')
const ENDING = '.png'

const Version = z.object({ chromium: z.int() })

/** The accepted pictures. */
export interface AcceptedPictures {
  /** The major version of Chromium that took them. */
  readonly chromium: number
  readonly names: readonly string[]
  read(name: string): Promise<Buffer>
}

/** Reads the list of accepted pictures. */
export async function acceptedPictures(): Promise<AcceptedPictures> {
  const { chromium } = Version.parse(JSON.parse(await readFile(VERSION_FILE, 'utf8')))
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(ENDING))
  return {
    chromium,
    names: files.map((file) => file.slice(0, -ENDING.length)),
    read: (name) => readFile(join(FOLDER, name + ENDING)),
  }
}

/** Replaces all accepted pictures. */
export async function accept(pictures: ReadonlyMap<string, Buffer>, chromium: number): Promise<string> {
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  for (const [name, picture] of pictures) await writeFile(join(FOLDER, name + ENDING), picture)
  await writeFile(VERSION_FILE, `${JSON.stringify({ chromium }, null, 2)}\n`)
  return FOLDER
}
