import { accept, acceptedPictures } from './accepted.ts'
import { comparePictures, STRICT } from './compare.ts'
import { smallest } from './encode.ts'
import { openGallery, photographs } from './photographs.ts'

// `npm run gallery:accept`: takes pictures of all states and accepts them. Pictures that look the same stay as they are.

const gallery = await openGallery()
try {
  await renew()
} finally {
  await gallery[Symbol.asyncDispose]()
}

async function renew(): Promise<void> {
  const before = await acceptedPictures().catch(() => undefined)
  const isSameVersion = before?.chromium === gallery.chromium
  const pictures = new Map<string, Buffer>()
  const changed: string[] = []
  for await (const { name, picture } of photographs(gallery)) {
    const accepted = isSameVersion && before.names.includes(name) ? await before.read(name) : undefined
    const isUnchanged = accepted !== undefined && comparePictures(accepted, picture, STRICT).isEqual
    if (!isUnchanged) changed.push(name)
    pictures.set(name, isUnchanged ? accepted : await smallest(picture))
  }
  const folder = await accept(pictures, gallery.chromium)
  console.log(`${pictures.size} pictures in ${folder}, ${changed.length} of them new:`)
  for (const name of changed) console.log(`  ${name}`)
}
