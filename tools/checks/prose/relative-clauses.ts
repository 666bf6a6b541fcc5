/** Finds the first sentence that begins with a relative clause: "What is refused is …". Questions are fine. */
export function relativeClause(text: string): { sentence: string; offset: number } | undefined {
  const pattern = /(?:^|[.!?:]\s+)((?:What|Whoever|Whatever|Whichever|Who)\s+[^.!?]*(?:[.!?]|$))/g
  for (const match of text.matchAll(pattern)) {
    const sentence = (match[1] as string).replace(/\s+/g, ' ')
    if (!sentence.endsWith('?'))
      return { sentence, offset: match.index + match[0].indexOf(match[1] as string) }
  }
  return undefined
}
