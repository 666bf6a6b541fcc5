#!/usr/bin/env node
// Verifies an export of the audit log of an organization, offline. Needs Node 20 or newer and nothing else.
//
//   node verify-audit.mjs audit.ndjson [--head <hash>]     or from standard input, without a file
//
// Prints "ok N rows, head <hash>", or the first broken row, with exit code 1. With --head, the export must contain this hash, which you
// noted earlier. Made by tools/scripts/audit-verifier.mjs from packages/protocol/audit-chain.ts: do not change it here.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

// The audit chain of an organization: how rows are hashed, and the offline check of an export. This file imports nothing, because
// tools/verify-audit.mjs is made from it (npm run cli:docs) and has to run anywhere.
/** How many days rows are kept, by their class. Five years with two leap days, as of Regulation (EU) 2023/1230, Annex III 1.1.9. */
const auditRetentionDays = { days_90: 90, year_1: 366, years_5: 1_827 };
/** What precedes the first row of a chain. */
const AUDIT_CHAIN_START = '0'.repeat(64);
/** Returns a JSON value as text with sorted keys, so that equal values have equal texts. */
function canonicalJson(value) {
    if (Array.isArray(value))
        return `[${value.map(canonicalJson).join(',')}]`;
    if (typeof value !== 'object' || value === null)
        return JSON.stringify(value);
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}
async function sha256(text) {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
/** Returns the hash of the content of a row, which is what the row has besides its link. */
const auditContentHash = (content) => sha256(canonicalJson(content));
/** Returns the hash of a row from its link and the hash of its content. */
const auditRowHash = (link, content, previous) => sha256(canonicalJson([previous, link.organization_id, link.seq, link.at, link.retention, content]));
/** What can be wrong with a row, or with the whole. */
const auditProblemTexts = {
    no_row: 'it is not a row of an audit log',
    wrong_place: 'another row is expected here',
    other_organization: 'it belongs to another organization',
    not_continued: 'it does not continue the row before',
    deleted_early: 'its content was deleted before its time',
    changed: 'its content has been changed',
    wrong_hash: 'its hash does not match',
    head_missing: 'no row has the noted hash: newer rows are missing',
};
/**
 * Checks the chain of an export, a row of JSON in each line, oldest first. Finds rows that were changed, added, removed, moved, or
 * deleted before their time. Nobody can see in an export alone that its newest rows are missing: pass a head that was noted earlier.
 */
async function verifyAudit(lines, { now = new Date(), head } = {}) {
    const chain = { organization: '', rows: 0, deleted: 0, head: AUDIT_CHAIN_START };
    let hasHead = head === undefined || head === AUDIT_CHAIN_START;
    let line = 0;
    for await (const text of lines) {
        line += 1;
        if (text.trim() === '')
            continue;
        const row = rowIn(text);
        if (row === undefined)
            return { ok: false, line, seq: null, problem: 'no_row' };
        const { content_hash, prev_hash, hash, organization_id, seq, at, retention, ...content } = row;
        const broken = (problem) => ({ ok: false, line, seq, problem });
        if (seq !== chain.rows + 1)
            return broken('wrong_place');
        if (chain.rows > 0 && organization_id !== chain.organization)
            return broken('other_organization');
        if (prev_hash !== chain.head)
            return broken('not_continued');
        const isDeleted = Object.keys(content).length === 0;
        if (isDeleted && !(Date.parse(at) + auditRetentionDays[retention] * 86_400_000 <= now.getTime()))
            return broken('deleted_early');
        if (!isDeleted && content_hash !== (await auditContentHash(content)))
            return broken('changed');
        if (hash !== (await auditRowHash({ organization_id, seq, at, retention }, content_hash, prev_hash)))
            return broken('wrong_hash');
        chain.organization = organization_id;
        chain.rows = seq;
        chain.deleted += isDeleted ? 1 : 0;
        chain.head = hash;
        hasHead ||= hash === head;
    }
    if (hasHead)
        return { ok: true, rows: chain.rows, deleted: chain.deleted, head: chain.head };
    return { ok: false, line, seq: null, problem: 'head_missing' };
}
/** Returns the row in a line, undefined if the line has none. */
function rowIn(text) {
    try {
        const row = JSON.parse(text);
        const { organization_id, seq, at, retention, content_hash, prev_hash, hash } = row;
        const texts = [organization_id, at, retention, content_hash, prev_hash, hash];
        const isRow = texts.every((value) => typeof value === 'string') &&
            Number.isSafeInteger(seq) &&
            Object.hasOwn(auditRetentionDays, retention);
        canonicalJson(row); // too deep, and it is none
        return isRow ? row : undefined;
    }
    catch {
        return undefined;
    }
}
/** Says in a line what the check has found. */
function describeAuditVerdict(verdict) {
    if (verdict.ok) {
        const deleted = verdict.deleted > 0 ? ` (${verdict.deleted} deleted after their time)` : '';
        return `ok ${verdict.rows} rows${deleted}, head ${verdict.head}`;
    }
    const row = verdict.seq === null ? '' : `, row ${verdict.seq}`;
    return `broken at line ${verdict.line}${row}: ${auditProblemTexts[verdict.problem]}`;
}

const { values, positionals } = parseArgs({ options: { head: { type: 'string' } }, allowPositionals: true });
const input = positionals[0] === undefined || positionals[0] === '-' ? process.stdin : createReadStream(positionals[0]);
input.on('error', (cause) => {
    console.error(cause.message);
    process.exit(2);
});
const verdict = await verifyAudit(createInterface({ input, crlfDelay: Infinity }), { head: values.head });
console.log(describeAuditVerdict(verdict));
process.exitCode = verdict.ok ? 0 : 1;
