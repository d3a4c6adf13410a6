// What the worker does for its client. Long calls work in slices and pause their job in between.

import { checkObject, checkRange } from '../core/arguments.ts';
import { disposedError, supersededError } from '../core/errors.ts';
import type { Heed } from '../core/heed.ts';
import type { TuneOptions, TuneResult } from '../core/lab-types.ts';
import type { Session } from '../core/session.ts';
import type {
  AttentionInputs, AttentionOptions, AttentionResult, LshOptions, LshResult, Mechanism, MultiHeadInputs, Tile, TileRequest, WeightKind,
} from '../core/types.ts';
import { inSlices } from './job.ts';
import type { Job } from './job.ts';

/** Pairs of the first slice; later ones follow the measured time. */
const firstPairs = 200_000;

/** A job that ends when its session is configured anew or disposed during a pause: its result would belong to neither. */
function bound(job: Job, session: Session, kind: WeightKind): Job {
  const version = session.version(kind);
  return {
    async pause(fraction) {
      await job.pause(fraction);
      if (session.version(kind) !== version) throw supersededError();
    },
  };
}

async function runSession(session: Session, kind: Mechanism, job: Job): Promise<{ milliseconds: number }> {
  const milliseconds = await inSlices(bound(job, session, kind), firstPairs, (pairs) => {
    const fraction = session.done(kind) ? 1 : session.advance(kind, pairs);
    return { done: session.done(kind), fraction };
  });
  return { milliseconds };
}

/** A tile in bands of cell rows, so that a tile over the whole of a large map can be aborted. */
async function tileInBands(session: Session, kind: WeightKind, request: TileRequest, job: Job): Promise<Tile> {
  const perCell = checkObject(request, 'tile').rowsPerCell ?? 1;
  const [begin, end] = checkRange(request.rows, 'tile.rows');
  const [firstColumn, lastColumn] = checkRange(request.columns, 'tile.columns');
  const cellRows = Math.max(0, Math.ceil((end - begin) / perCell));
  const bands: Tile[] = [];
  let next = 0;
  const firstRows = Math.max(1, Math.ceil(firstPairs / Math.max(1, perCell * (lastColumn - firstColumn))));
  await inSlices(bound(job, session, kind), firstRows, (size) => {
    const last = Math.min(cellRows, next + Math.max(1, Math.floor(size)));
    const rows = [begin + next * perCell, Math.min(end, begin + last * perCell)] as const;
    bands.push(session.tile(kind, { ...request, rows }));
    next = last;
    return { done: next >= cellRows, fraction: cellRows === 0 ? 1 : next / cellRows };
  });
  const cellColumns = bands[0]?.cellColumns ?? 0;
  const peak = new Float32Array(cellRows * cellColumns);
  const mean = new Float32Array(cellRows * cellColumns);
  let offset = 0;
  for (const band of bands) {
    peak.set(band.peak, offset);
    mean.set(band.mean, offset);
    offset += band.peak.length;
  }
  return { cellRows, cellColumns, peak, mean };
}

export function makeHandlers(heed: Heed) {
  const sessions = new Map<number, Session>();
  let nextSession = 1;

  const sessionOf = (id: number): Session => {
    const session = sessions.get(id);
    if (session === undefined) {
      throw disposedError('session');
    }
    return session;
  };

  const withSession = async <T>(inputs: AttentionInputs, body: (session: Session) => Promise<T>): Promise<T> => {
    const session = heed.session(inputs);
    try {
      return await body(session);
    } finally {
      session.dispose();
    }
  };

  return {
    async attention(inputs: AttentionInputs, options: AttentionOptions, job: Job): Promise<AttentionResult> {
      return withSession(inputs, async (session) => {
        session.configureExact(options);
        await runSession(session, 'exact', job);
        return session.result('exact');
      });
    },
    async lshAttention(inputs: AttentionInputs, options: AttentionOptions, lsh: LshOptions, job: Job): Promise<LshResult> {
      return withSession(inputs, async (session) => {
        const parameters = session.configureLsh(options, lsh);
        await runSession(session, 'lsh', job);
        return { ...session.result('lsh'), parameters, cost: session.cost() };
      });
    },
    multiHeadAttention: (inputs: MultiHeadInputs, options: AttentionOptions, _job: Job) => heed.multiHeadAttention(inputs, options),
    linear: (...[x, layer, sizes, _job]: [...Parameters<Heed['linear']>, Job]) => heed.linear(x, layer, sizes),
    hash: (...[x, dim, options, _job]: [...Parameters<Heed['hash']>, Job]) => heed.hash(x, dim, options),
    async autoTune(inputs: AttentionInputs, options: AttentionOptions, tune: TuneOptions, job: Job): Promise<TuneResult> {
      const tuner = heed.tuner(inputs, options, tune);
      try {
        await inSlices(job, firstPairs, (pairs) => ({ fraction: tuner.advance(pairs), done: tuner.done }));
        return tuner.result();
      } finally {
        tuner.dispose();
      }
    },
    principalComponents: (...[x, dim, components, _job]: [...Parameters<Heed['principalComponents']>, Job]) => heed.principalComponents(x, dim, components),
    open(inputs: AttentionInputs, _job: Job) {
      const session = heed.session(inputs);
      const id = nextSession++;
      sessions.set(id, session);
      return { id, shape: session.shape };
    },
    close(id: number, _job: Job): void {
      sessions.get(id)?.dispose();
      sessions.delete(id);
    },
    configure: (id: number, options: AttentionOptions, lsh: LshOptions, _job: Job) => sessionOf(id).configure(options, lsh),
    run: (id: number, kind: Mechanism, job: Job) => runSession(sessionOf(id), kind, job),
    result: (id: number, kind: Mechanism, _job: Job) => sessionOf(id).result(kind),
    tile: (id: number, kind: WeightKind, request: TileRequest, job: Job) => tileInBands(sessionOf(id), kind, request, job),
    row: (id: number, kind: WeightKind, request: Parameters<Session['row']>[1], _job: Job) => sessionOf(id).row(kind, request),
    candidates: (id: number, request: Parameters<Session['candidates']>[0], _job: Job) => sessionOf(id).candidates(request),
    structure: (id: number, request: Parameters<Session['structure']>[0], _job: Job) => sessionOf(id).structure(request),
    cell: (id: number, request: Parameters<Session['cell']>[0], _job: Job) => sessionOf(id).cell(request),
    cost: (id: number, _job: Job) => sessionOf(id).cost(),
    quality: (id: number, options: NonNullable<Parameters<Session['quality']>[0]>, _job: Job) => sessionOf(id).quality(options),
    workspaceBytes: (id: number, _job: Job) => sessionOf(id).workspaceBytes(),
    memoryBytes: (_job: Job) => heed.memoryBytes(),
  };
}

export type Handlers = ReturnType<typeof makeHandlers>;
