// A Worker that does nothing by itself: keeps what it is sent and says what a test lets it say.

import type { Request, Response } from '../../../web/src/protocol/messages.ts';

export class FakeWorker extends EventTarget {
  readonly received: Request[] = [];
  terminated = false;

  postMessage(message: Request): void {
    this.received.push(structuredClone(message));
  }

  terminate(): void {
    this.terminated = true;
  }

  says(response: Response): void {
    this.dispatchEvent(new MessageEvent('message', { data: response }));
  }

  fails(message: string): void {
    this.dispatchEvent(Object.assign(new Event('error'), { message }));
  }

  /** As the type that Bridge wants. */
  get worker(): Worker {
    return this as unknown as Worker;
  }
}
