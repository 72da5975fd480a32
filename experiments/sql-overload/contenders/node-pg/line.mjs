const PATIENCE_MS = 1000;

// What one gets who finds the line full, or whose turn has not come in time.
export class Refused extends Error {}

// Lets in as many as there are free places. Others wait for a turn, for a second at most.
export class Line {
  #free;
  #waitingMax;
  #lastFirst;
  #waiting = [];

  constructor({ free, waitingMax = Infinity, lastFirst = false }) {
    this.#free = free;
    this.#waitingMax = waitingMax;
    this.#lastFirst = lastFirst;
  }

  async within(work) {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter() {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiting.length >= this.#waitingMax) {
      throw new Refused("the line is full");
    }
    await new Promise((resolve, reject) => {
      const turn = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        reject(new Refused("no turn in time"));
      }, PATIENCE_MS);
      this.#waiting.push(turn);
    });
  }

  #leave() {
    const turn = this.#lastFirst ? this.#waiting.pop() : this.#waiting.shift();
    if (turn) {
      turn();
    } else {
      this.#free++;
    }
  }
}
