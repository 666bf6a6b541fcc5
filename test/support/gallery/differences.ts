import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { acceptedPictures } from './accepted.ts'
import { comparePictures, STRICT, WIDE } from './compare.ts'
import { WORK_FOLDER } from './gallery-build.ts'
import { type OpenGallery, photographs } from './photographs.ts'

/** Where the pictures are that differ: as accepted, as they are now, and the different pixels in red. */
const FOLDER = join(WORK_FOLDER, 'differences')

/** The comparison of all states with the accepted pictures. */
export interface GalleryComparison {
  /** The names of the pictures that were taken. */
  readonly taken: readonly string[]
  /** The names of the accepted pictures. */
  readonly accepted: readonly string[]
  /** The pictures that differ, one line each. */
  readonly differences: readonly string[]
  /** The folder that shows it. */
  readonly folder: string
}

/** Photographs all states and compares them. Another major version of Chromium has a wider tolerance. */
export async function compareWithAccepted(gallery: OpenGallery): Promise<GalleryComparison> {
  const accepted = await acceptedPictures()
  const tolerance = accepted.chromium === gallery.chromium ? STRICT : WIDE
  await rm(FOLDER, { recursive: true, force: true })
  const taken: string[] = []
  const differences: string[] = []
  for await (const { name, picture } of photographs(gallery)) {
    taken.push(name)
    if (!accepted.names.includes(name)) continue
    const before = await accepted.read(name)
    const { isEqual, text, difference } = comparePictures(before, picture, tolerance)
    if (isEqual) continue
    differences.push(`${name}: ${text}`)
    await mkdir(FOLDER, { recursive: true })
    await writeFile(join(FOLDER, `${name}.accepted.png`), before)
    await writeFile(join(FOLDER, `${name}.actual.png`), picture)
    if (difference) await writeFile(join(FOLDER, `${name}.difference.png`), difference)
  }
  return { taken: taken.sort(), accepted: accepted.names.toSorted(), differences, folder: FOLDER }
}
