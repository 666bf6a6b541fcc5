import sharp from 'sharp'

/** A person in a safety vest, seen from the front. */
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 500">
<defs>
<linearGradient id="vest" x1="0" x2="1"><stop offset="0" stop-color="#b9c41f"/><stop offset=".35" stop-color="#dbe83c"/><stop offset=".65" stop-color="#d3e034"/><stop offset="1" stop-color="#a3ad18"/></linearGradient>
<linearGradient id="leg" x1="0" x2="1"><stop offset="0" stop-color="#232d42"/><stop offset=".45" stop-color="#36435e"/><stop offset="1" stop-color="#1d2537"/></linearGradient>
<linearGradient id="arm" x1="0" x2="1"><stop offset="0" stop-color="#27324a"/><stop offset=".5" stop-color="#3b4965"/><stop offset="1" stop-color="#222b40"/></linearGradient>
<linearGradient id="skin" x1="0" x2="1"><stop offset="0" stop-color="#b98663"/><stop offset=".45" stop-color="#d9a681"/><stop offset="1" stop-color="#a87554"/></linearGradient>
<linearGradient id="hat" x1="0" x2="1" y2=".6"><stop offset="0" stop-color="#fff"/><stop offset=".6" stop-color="#eef1f4"/><stop offset="1" stop-color="#b9c1ca"/></linearGradient>
</defs>
<path d="M62 255 L58 380 L62 474 L94 474 L97 380 L100 300 L103 380 L106 474 L138 474 L142 380 L138 255 Z" fill="url(#leg)"/>
<path d="M60 410 h36 v14 h-36 Z M104 410 h36 v14 h-36 Z" fill="#c9ced2"/>
<path d="M60 470 h35 v22 q0 6 -6 6 h-32 q-6 -1 -4 -9 q3 -8 7 -19 Z M105 470 h35 q4 11 7 19 q2 8 -4 9 h-32 q-6 0 -6 -6 Z" fill="#1d1a18"/>
<path d="M64 108 Q38 112 34 140 L24 215 L28 268 L46 268 L48 218 L62 168 Z" fill="url(#arm)"/>
<path d="M136 108 Q162 112 166 140 L176 215 L172 268 L154 268 L152 218 L138 168 Z" fill="url(#arm)"/>
<path d="M28 264 q-4 18 4 29 q9 5 14 -4 l1 -25 Z M172 264 q4 18 -4 29 q-9 5 -14 -4 l-1 -25 Z" fill="url(#skin)"/>
<path d="M86 78 h28 v30 h-28 Z" fill="#b07d5b"/>
<path d="M80 100 Q100 112 120 100 L146 110 Q150 150 143 200 L144 276 Q100 286 56 276 L57 200 Q50 150 54 110 Z" fill="url(#vest)"/>
<path d="M84 101 L100 140 L116 101 Q100 112 84 101 Z" fill="#2c3750"/>
<path d="M100 138 V280" stroke="#8f9914" stroke-width="2"/>
<path d="M68 106 L74 278 M132 106 L126 278" stroke="#eef0ec" stroke-width="11"/>
<path d="M55 206 Q100 216 145 206 V222 Q100 232 55 222 Z M56 244 Q100 254 144 244 V260 Q100 270 56 260 Z" fill="#eef0ec"/>
<path d="M54 112 Q46 150 57 200 L56 276 L62 278 L66 200 Q56 150 62 109 Z M146 112 Q154 150 143 200 L144 276 L138 278 L134 200 Q144 150 138 109 Z" fill="#7d8712" opacity=".45"/>
<ellipse cx="100" cy="58" rx="25" ry="33" fill="url(#skin)"/>
<path d="M76 66 Q80 92 100 93 Q120 92 124 66 Q118 82 100 82 Q82 82 76 66 Z" fill="#5b3d29" opacity=".55"/>
<path d="M86 57 h8 M106 57 h8" stroke="#3a261a" stroke-width="3.4" stroke-linecap="round"/>
<path d="M92 76 q8 3 16 0" stroke="#7c4a36" stroke-width="2.6" fill="none"/>
<path d="M66 44 Q66 6 100 4 Q134 6 134 44 Q100 34 66 44 Z" fill="url(#hat)"/>
<path d="M62 45 Q100 30 138 45 Q138 51 132 50 Q100 40 68 50 Q62 51 62 45 Z" fill="#dfe4e9"/>
<path d="M74 50 Q100 42 126 50 L124 56 Q100 47 76 56 Z" fill="#000" opacity=".25"/>
<path d="M95 5 Q100 3 105 5 L106 38 Q100 36 94 38 Z" fill="#fff" opacity=".8"/>
</svg>`

export interface Sprite {
  readonly width: number
  readonly height: number
  /** As in a picture, with its own colour also where it is transparent. */
  readonly pixels: Int32Array
  readonly alpha: Uint8Array
}

async function spriteOf(height: number): Promise<Sprite> {
  const { data, info } = await sharp(Buffer.from(SVG), { density: (72 * height) / 500 })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const bytes = new Uint8Array(data)
  const alpha = new Uint8Array(bytes.length / 4)
  for (let index = 0; index < alpha.length; index++) {
    alpha[index] = bytes[index * 4 + 3] as number
    bytes[index * 4 + 3] = 255
  }
  return { ...info, pixels: new Int32Array(bytes.buffer), alpha }
}

/** In several sizes, because reducing it while drawing would leave out pixels. */
const sprites = await Promise.all([40, 60, 90, 135, 200, 300, 450, 675, 1_000].map(spriteOf))

/** Returns the picture of a person for a height in pixels. */
export function personAt(height: number): Sprite {
  return sprites.find((sprite) => sprite.height >= height * 0.9) ?? (sprites.at(-1) as Sprite)
}
