import { encode } from 'uqr'

/** The quiet zone that readers need around the code, in modules. */
const BORDER = 4

/** Draws a QR code, dark on white in both colour schemes, because some readers need it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data } = encode(text, { border: BORDER, ecc: 'M' })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${data.length} ${data.length}`}
      shapeRendering="crispEdges"
      style={{ width: '100%', maxWidth: 240, background: '#fff' }}
    >
      <path d={path} fill="#000" />
    </svg>
  )
}
