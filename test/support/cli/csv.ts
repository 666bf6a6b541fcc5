/** Parses a CSV document strictly by RFC 4180: CRLF after every record, quotes where they are required. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = []
  let record: string[] = []
  let at = 0
  while (at < text.length) {
    const [field, end] = text[at] === '"' ? quoted(text, at) : plain(text, at)
    record.push(field)
    if (text[end] === ',') {
      at = end + 1
    } else if (text.startsWith('\r\n', end)) {
      records.push(record)
      record = []
      at = end + 2
    } else {
      throw new Error(`neither comma nor CRLF at ${end}: ${JSON.stringify(text.slice(end, end + 20))}`)
    }
  }
  if (record.length > 0) throw new Error('the last record has no CRLF')
  return records
}

function plain(text: string, start: number): [string, number] {
  let end = start
  while (end < text.length && !',"\r\n'.includes(text[end] as string)) end++
  return [text.slice(start, end), end]
}

function quoted(text: string, start: number): [string, number] {
  let field = ''
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at)
    if (quote < 0) throw new Error(`the quote at ${start} is never closed`)
    field += text.slice(at, quote)
    if (text[quote + 1] !== '"') return [field, quote + 1]
    field += '"'
    at = quote + 2
  }
}
