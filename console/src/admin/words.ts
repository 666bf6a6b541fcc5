/** A name of the wire in words: `certification.approved` → "Certification approved". */
export function words(name: string): string {
  const spaced = name.replace(/[._]+/g, ' ').trim()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
